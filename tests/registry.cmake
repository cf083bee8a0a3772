# SPDX-License-Identifier: GPL-2.0-or-later
# How tests are registered with CTest, which is the only list of them.
#
# Labels: quick (script/test), ci (script/test --all), release (script/test --release alone); by topic unit, tshark,
# capture, probe, robust, fabric; by variant asan, tsan, wireshark-4.2, -4.4, -4.6. CI is to take about half an hour
# on two processors: what repeats another test in a third version or a slower build is of the release.

option(IPOIB_TEST_VARIANTS "register the tests of other builds and other Wireshark versions too" ON)
option(IPOIB_UNIT_TESTS "build the unit tests and the fuzzing harnesses with everything else" ON)
set(IPOIB_WIRESHARKS 4.2 4.4 4.6) # the newest is the last
list(GET IPOIB_WIRESHARKS -1 IPOIB_NEWEST_WIRESHARK)
set(IPOIB_ASAN_BUILD ${CMAKE_BINARY_DIR}/variants/asan)
set(IPOIB_TSAN_BUILD ${CMAKE_BINARY_DIR}/variants/tsan)
# Debian's Python, which has Debian's pytest, before another one on the PATH.
find_program(IPOIB_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(IPOIB_PYTHON python3 REQUIRED)

# The seconds of the long tests, by which CTest chooses what it starts next, and those of a processor. CTest counts
# quarters of a processor (script/ctest_run.py): a test takes as many as it uses, but at least two, since it does not
# wait at all times. One that is not listed takes four.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/costs)
file(STRINGS ${CMAKE_SOURCE_DIR}/tests/costs lines REGEX "^[^#]")
foreach(line ${lines})
    string(REPLACE " " ";" line "${line}")
    list(GET line 0 name)
    list(GET line 1 IPOIB_COST_${name})
    list(GET line 2 IPOIB_CPU_${name})
endforeach()

# The environment of a test of the build folder BUILD, with the plugins of PLUGINS.
function(ipoib_environment out build plugins)
    set(${out} IPOIB_SRC=${CMAKE_SOURCE_DIR} IPOIB_BUILD=${build} IPOIB_BIN=${build}/bin
        IPOIB_ASAN_BIN=${IPOIB_ASAN_BUILD}/bin
        IPOIB_PLUGINS=${plugins} IPOIB_TSHARK=${CMAKE_SOURCE_DIR}/script/tshark CMOCKA_MESSAGE_OUTPUT=TAP
        PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 PARENT_SCOPE)
endfunction()

# ipoib_register(NAME SECONDS LABELS ENVIRONMENT PROPERTIES COMMAND...): one test of CTest. The program has its own limit of
# SECONDS, which on a busy machine grows up to eight times (MOST in tests/support/wait.py); CTest's is for the case that
# this fails. IPOIB_TEST names the test to script/test-costs.
function(ipoib_register name seconds labels environment properties)
    math(EXPR limit "8 * ${seconds} + 30")
    set(cost 1)
    set(quarters 4)
    if(DEFINED IPOIB_COST_${name})
        set(cost ${IPOIB_COST_${name}})
        math(EXPR quarters "(4 * ${IPOIB_CPU_${name}} + ${cost} - 1) / ${cost}")
        if(quarters LESS 2)
            set(quarters 2)
        elseif(quarters GREATER 4)
            set(quarters 4)
        endif()
    endif()
    add_test(NAME ${name} COMMAND ${CMAKE_SOURCE_DIR}/tests/support/isolated ${seconds} ${ARGN}
             WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    set_tests_properties(${name} PROPERTIES LABELS "${labels}" TIMEOUT ${limit} COST ${cost} PROCESSORS ${quarters} SKIP_RETURN_CODE 77
                         ENVIRONMENT "IPOIB_TEST=${name};${environment}" ${properties})
endfunction()

# A program that is a test itself. script/other-wireshark builds none, since none runs there.
function(ipoib_place_test program)
    set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    if(NOT IPOIB_UNIT_TESTS)
        set_target_properties(${program} PROPERTIES EXCLUDE_FROM_ALL ON)
    endif()
endfunction()

# The tier of the tests with another version of Wireshark.
function(ipoib_wireshark_tier out version)
    set(${out} release PARENT_SCOPE)
    if(version STREQUAL IPOIB_NEWEST_WIRESHARK)
        set(${out} ci PARENT_SCOPE)
    endif()
endfunction()

# ipoib_test(NAME [LABELS label...] [SECONDS n] [LOCK name...] [PROCESSORS n] [SERIAL] [FABRIC] [VARIANTS variant...]
#            COMMAND program...)
# LABELS: quick or release, and topics; every test but those of release has ci too. FABRIC: needs the virtual fabric's kernel.
# VARIANTS: the same test in other builds and with other versions of Wireshark:
#   asan, tsan      in CI
#   asan-release    in the release tier
#   newest          with the newest version in CI
#   wireshark       with the newest version in CI, with the others in the release tier
function(ipoib_test name)
    cmake_parse_arguments(T "SERIAL;FABRIC" "SECONDS;PROCESSORS" "LABELS;LOCK;VARIANTS;COMMAND" ${ARGN})
    if(NOT T_SECONDS)
        set(T_SECONDS 600)
    endif()
    set(topics ${T_LABELS})
    list(REMOVE_ITEM topics quick release)
    set(labels ${T_LABELS})
    if(NOT release IN_LIST labels)
        list(APPEND labels ci)
    endif()
    set(properties "")
    if(T_LOCK)
        string(REPLACE ";" "\\;" locks "${T_LOCK}")
        list(APPEND properties RESOURCE_LOCK "${locks}")
    endif()
    if(T_PROCESSORS)
        math(EXPR quarters "4 * ${T_PROCESSORS}")
        list(APPEND properties PROCESSORS ${quarters})
    endif()
    if(T_SERIAL)
        list(APPEND properties RUN_SERIAL ON)
    endif()
    set(fixture "")
    if(T_FABRIC)
        set(fixture FIXTURES_REQUIRED fabric)
    endif()
    ipoib_environment(environment ${CMAKE_BINARY_DIR} ${CMAKE_BINARY_DIR}/plugins)
    ipoib_register(${name} ${T_SECONDS} "${labels}" "${environment}" "${properties};${fixture}" ${T_COMMAND})

    if(NOT IPOIB_TEST_VARIANTS)
        return()
    endif()
    math(EXPR longer "3 * ${T_SECONDS}") # for a slower build
    if(asan IN_LIST T_VARIANTS OR asan-release IN_LIST T_VARIANTS)
        set(tier ci)
        if(asan-release IN_LIST T_VARIANTS)
            set(tier release)
        endif()
        ipoib_environment(environment ${IPOIB_ASAN_BUILD} ${IPOIB_ASAN_BUILD}/plugins)
        list(APPEND environment UBSAN_OPTIONS=print_stacktrace=1 G_SLICE=always-malloc)
        string(REPLACE "${CMAKE_BINARY_DIR}/" "${IPOIB_ASAN_BUILD}/" command "${T_COMMAND}")
        if(unit IN_LIST T_LABELS)
            list(APPEND environment ASAN_OPTIONS=detect_leaks=1)
        else()
            # Wireshark is not built so: the sanitizer's library is loaded ahead, and Wireshark's own leaks do not count.
            list(APPEND environment ASAN_OPTIONS=detect_leaks=0 IPOIB_PRELOAD=${IPOIB_ASAN_LIBRARY})
        endif()
        ipoib_register(asan/${name} ${longer} "asan;${tier};${topics}" "${environment}"
                       "${properties};FIXTURES_REQUIRED;asan" ${command})
    endif()
    if(tsan IN_LIST T_VARIANTS)
        ipoib_environment(environment ${IPOIB_TSAN_BUILD} ${CMAKE_BINARY_DIR}/plugins)
        list(APPEND environment TSAN_OPTIONS=halt_on_error=1)
        string(REPLACE "${CMAKE_BINARY_DIR}/" "${IPOIB_TSAN_BUILD}/" command "${T_COMMAND}")
        ipoib_register(tsan/${name} ${longer} "tsan;ci;${topics}" "${environment}"
                       "${properties};FIXTURES_REQUIRED;tsan" ${command})
    endif()
    foreach(version ${IPOIB_WIRESHARKS})
        ipoib_wireshark_tier(tier ${version})
        if(wireshark IN_LIST T_VARIANTS OR (newest IN_LIST T_VARIANTS AND tier STREQUAL ci))
            string(REPLACE "${IPOIB_PYTHON}" python3 command "${T_COMMAND}")
            string(REPLACE "${CMAKE_SOURCE_DIR}/" "" command "${command}")
            ipoib_register(wireshark-${version}/${name} ${T_SECONDS} "wireshark-${version};${tier};${topics}" ""
                           "${properties};FIXTURES_REQUIRED;wireshark-${version};SKIP_RETURN_CODE;75"
                           ${CMAKE_SOURCE_DIR}/script/other-wireshark ${version} ${command})
        endif()
    endforeach()
endfunction()

# ipoib_pytest(FOLDER/NAME [as ipoib_test] [AT_ONCE n]): tests/FOLDER/test_NAME.py, in CTest NAME
# AT_ONCE: its tests wait for most of their time, and run in n processes at once (tests/support/at_once.py).
function(ipoib_pytest name)
    cmake_parse_arguments(P "" "AT_ONCE" "PYTEST" ${ARGN})
    set(at_once "")
    if(P_AT_ONCE)
        set(at_once ${IPOIB_PYTHON} ${CMAKE_SOURCE_DIR}/tests/support/at_once.py ${P_AT_ONCE})
    endif()
    get_filename_component(folder ${name} DIRECTORY)
    get_filename_component(name ${name} NAME)
    set_property(GLOBAL APPEND PROPERTY IPOIB_PYTESTS ${folder}/test_${name}.py)
    ipoib_test(${name} ${P_UNPARSED_ARGUMENTS}
               COMMAND ${at_once} ${IPOIB_PYTHON} -m pytest ${CMAKE_SOURCE_DIR}/tests/${folder}/test_${name}.py
               ${P_PYTEST})
endfunction()

# ipoib_shell_test(FOLDER/NAME [as ipoib_test] [ARGUMENTS argument...]): tests/FOLDER/NAME.sh, in CTest NAME
function(ipoib_shell_test name)
    cmake_parse_arguments(S "" "" "ARGUMENTS" ${ARGN})
    set(program ${CMAKE_SOURCE_DIR}/tests/${name}.sh)
    get_filename_component(name ${name} NAME)
    ipoib_test(${name} ${S_UNPARSED_ARGUMENTS} COMMAND ${program} ${S_ARGUMENTS})
endfunction()

# Each test file is registered: a new one that is not would never run.
function(ipoib_check_registry)
    get_property(registered GLOBAL PROPERTY IPOIB_PYTESTS)
    file(GLOB files RELATIVE ${CMAKE_SOURCE_DIR}/tests ${CMAKE_SOURCE_DIR}/tests/*test_*.py
         ${CMAKE_SOURCE_DIR}/tests/*/test_*.py)
    list(REMOVE_ITEM files ${registered})
    if(files)
        message(FATAL_ERROR "not registered in tests/programs.cmake: ${files}")
    endif()
endfunction()

# Other builds: a test that builds them is the fixture of those that run in them.
function(ipoib_variant_build name build options targets)
    string(REPLACE ";" " " targets "${targets}")
    string(REPLACE ";" " " options "${options}")
    ipoib_register(${name}/build 3600 "${name};ci" "" "FIXTURES_SETUP;${name};PROCESSORS;8" sh -c
                   "cmake -S '${CMAKE_SOURCE_DIR}' -B '${build}' -G Ninja -DCMAKE_BUILD_TYPE=Debug -DIPOIB_TEST_VARIANTS=OFF ${options} && ninja -C '${build}' ${targets}")
endfunction()

if(IPOIB_TEST_VARIANTS)
    execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=libasan.so OUTPUT_VARIABLE library
                    OUTPUT_STRIP_TRAILING_WHITESPACE)
    get_filename_component(IPOIB_ASAN_LIBRARY "${library}" REALPATH)
    ipoib_variant_build(asan ${IPOIB_ASAN_BUILD} -DIPOIB_SANITIZE=address,undefined "")
    # The programs with threads. The plugins are those of the ordinary build.
    ipoib_variant_build(tsan ${IPOIB_TSAN_BUILD} "-DIPOIB_SANITIZE=thread;-DIPOIB_PLUGIN=OFF"
                        "ipoib-capture;replay;replay-umad;test_capture_handover")
    foreach(version ${IPOIB_WIRESHARKS}) # script/test empties the kept answers (tests/support/kept.py) of the other builds
        ipoib_wireshark_tier(tier ${version})
        ipoib_register(wireshark-${version}/build 3600 "wireshark-${version};${tier}" ""
                       "FIXTURES_SETUP;wireshark-${version};PROCESSORS;8;SKIP_RETURN_CODE;75"
                       ${CMAKE_SOURCE_DIR}/script/other-wireshark ${version} sh -c [[rm -rf "$IPOIB_BUILD/kept-answers"]])
    endforeach()
    ipoib_register(fabric/build 1800 "fabric;ci" "" "FIXTURES_SETUP;fabric;PROCESSORS;8;SKIP_RETURN_CODE;125"
                   ${CMAKE_SOURCE_DIR}/testbed/fabric build)
endif()
