# SPDX-License-Identifier: GPL-2.0-or-later
# CPack runs it before it makes the packages: compresses the manual pages and the changelogs of each.
set(share ${CPACK_TEMPORARY_DIRECTORY}/*/usr/share)
file(GLOB files ${share}/man/man*/*.[0-9] ${share}/doc/*/changelog)
if(NOT files)
    message(FATAL_ERROR "there is nothing to compress in ${share}")
endif()
execute_process(COMMAND gzip --best --no-name ${files} RESULT_VARIABLE status)
if(NOT status EQUAL 0)
    message(FATAL_ERROR "gzip: ${status}")
endif()
