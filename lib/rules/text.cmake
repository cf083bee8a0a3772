# SPDX-License-Identifier: GPL-2.0-or-later
# Embeds the lists of known deviations as strings, so that the plugin needs no files at run time.
function(ipoib_text name file)
    set(out ${CMAKE_CURRENT_BINARY_DIR}/${name}.c)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} text)
    string(REPLACE "\\" "\\\\" text "${text}")
    string(REPLACE "\"" "\\\"" text "${text}")
    string(REPLACE "\n" "\\n\"\n\"" text "${text}")
    file(GENERATE OUTPUT ${out} CONTENT "extern const char ${name}[];\nconst char ${name}[] =\n\"${text}\";\n")
endfunction()
