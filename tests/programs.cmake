# SPDX-License-Identifier: GPL-2.0-or-later
# The test programs in Python and shell.

# The quick set: what every change must pass.
ipoib_pytest(bootstrap LABELS quick SECONDS 120)
ipoib_pytest(runner LABELS quick SECONDS 120)
ipoib_pytest(with_plugins LABELS quick tshark SECONDS 120)
ipoib_pytest(fixtures LABELS quick VARIANTS asan)
ipoib_pytest(findings LABELS quick VARIANTS asan)
ipoib_pytest(conformant LABELS quick VARIANTS asan)
ipoib_pytest(integrity LABELS quick tshark VARIANTS asan)
ipoib_pytest(partial LABELS quick)
ipoib_pytest(check LABELS quick VARIANTS asan)
ipoib_pytest(require LABELS quick VARIANTS asan)
ipoib_pytest(baseline LABELS quick VARIANTS asan)
ipoib_pytest(probe_options LABELS quick probe VARIANTS asan)
ipoib_pytest(probe_sim LABELS quick probe)
ipoib_pytest(probe_targets LABELS quick probe VARIANTS asan)
ipoib_pytest(probe_fabric_text LABELS quick probe)
ipoib_pytest(decode LABELS quick tshark VARIANTS asan wireshark)
ipoib_pytest(parity LABELS quick tshark VARIANTS asan wireshark)
ipoib_pytest(fields LABELS quick tshark VARIANTS asan wireshark)
ipoib_pytest(taps LABELS quick tshark VARIANTS asan wireshark)
ipoib_pytest(preferences LABELS quick tshark VARIANTS asan wireshark)
ipoib_pytest(interfaces LABELS quick tshark VARIANTS asan wireshark)
ipoib_pytest(capture_files LABELS quick capture VARIANTS asan tsan newest)
ipoib_pytest(capture_faults LABELS quick capture VARIANTS asan tsan newest)
ipoib_pytest(capture_load LABELS quick capture VARIANTS asan tsan newest)
ipoib_pytest(capture_options LABELS quick capture VARIANTS asan tsan newest)
ipoib_pytest(capture_times LABELS quick capture VARIANTS asan tsan newest)
ipoib_pytest(multicast LABELS quick capture VARIANTS asan newest)
ipoib_pytest(extcap LABELS quick capture tshark SECONDS 300 VARIANTS asan wireshark)
ipoib_pytest(convert LABELS quick capture VARIANTS asan)
ipoib_pytest(convert_errors LABELS quick capture VARIANTS asan)
ipoib_pytest(demo LABELS quick tshark)
ipoib_pytest(times LABELS quick tshark VARIANTS asan wireshark)
ipoib_pytest(plain_messages LABELS quick VARIANTS asan)
ipoib_pytest(check_includes LABELS quick)
ipoib_pytest(capture_file LABELS quick capture)
ipoib_pytest(capture_messages LABELS quick capture)
ipoib_pytest(privileges LABELS quick capture probe)

# What CI runs besides.
ipoib_pytest(merge)
ipoib_pytest(merge_bombs LABELS robust)
ipoib_pytest(reassembly_limits LABELS robust tshark SECONDS 900)
ipoib_pytest(cluster)
ipoib_pytest(passes LABELS tshark VARIANTS asan wireshark)
ipoib_pytest(profile LABELS tshark VARIANTS asan wireshark)
ipoib_pytest(rule_pages LABELS tshark VARIANTS wireshark)
ipoib_pytest(upstream LABELS tshark)
ipoib_pytest(wiretap LABELS tshark VARIANTS wireshark)
ipoib_pytest(wireshark_checks LABELS tshark)
ipoib_pytest(documents)
ipoib_pytest(manual)
ipoib_pytest(hostile LABELS robust SECONDS 1200)
if(IPOIB_TEST_VARIANTS) # it runs the programs of that build too
    set_tests_properties(hostile PROPERTIES FIXTURES_REQUIRED asan)
endif()
ipoib_pytest(robust LABELS robust tshark SECONDS 1200 VARIANTS asan wireshark)
ipoib_pytest(noise LABELS robust)
ipoib_pytest(lint SECONDS 1800 PROCESSORS 2)
ipoib_pytest(coverage SECONDS 1800 PROCESSORS 2)
ipoib_pytest(package SECONDS 1200 PROCESSORS 2)
ipoib_pytest(benchmarks SECONDS 600)

# A bare Debian, on which the README is walked.
ipoib_test(bare/bookworm SECONDS 3000 COMMAND ${CMAKE_SOURCE_DIR}/tests/bare bookworm)
ipoib_test(bare/trixie LABELS release SECONDS 3600 COMMAND ${CMAKE_SOURCE_DIR}/tests/bare trixie)

# Long runs, for each piece of work once: half an hour for each fuzzing harness, an hour of strain for the virtual fabric.
ipoib_test(long/fuzz LABELS release robust SECONDS 36000 PROCESSORS 2 COMMAND ${CMAKE_SOURCE_DIR}/script/fuzz 1800)
ipoib_test(long/soak LABELS release fabric SECONDS 7200 FABRIC
           COMMAND env FABRIC_TIMEOUT=6000 ${CMAKE_SOURCE_DIR}/testbed/fabric once
                   ${CMAKE_SOURCE_DIR}/testbed/scenarios/soak.sh ${CMAKE_BINARY_DIR}/soak 600 20)

# What boots a machine with the virtual fabric.
ipoib_shell_test(demo_live LABELS fabric FABRIC)
ipoib_shell_test(fabric LABELS fabric FABRIC)
ipoib_shell_test(module LABELS fabric FABRIC)
ipoib_shell_test(deviant LABELS fabric probe SECONDS 1800 FABRIC)
ipoib_shell_test(probe LABELS fabric probe FABRIC)
ipoib_shell_test(probe_comes_up LABELS fabric probe FABRIC)
ipoib_shell_test(probe_connections LABELS fabric probe FABRIC)
ipoib_shell_test(probe_field LABELS fabric probe SECONDS 1200 FABRIC)
ipoib_shell_test(probe_kill LABELS fabric probe SECONDS 1200 FABRIC)
# A new file in these folders makes CMake list them again.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/testbed/scenarios
             ${CMAKE_SOURCE_DIR}/tests)
set_property(GLOBAL APPEND PROPERTY IPOIB_PYTESTS test_scenarios.py)
file(GLOB scenarios ${CMAKE_SOURCE_DIR}/testbed/scenarios/*.sh)
foreach(scenario ${scenarios})
    get_filename_component(scenario ${scenario} NAME_WE)
    ipoib_test(scenario/${scenario} LABELS fabric SECONDS 1000 FABRIC
               COMMAND ${IPOIB_PYTHON} -m pytest ${CMAKE_SOURCE_DIR}/tests/test_scenarios.py --scenario ${scenario})
endforeach()

ipoib_check_registry()
