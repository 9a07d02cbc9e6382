# Every folder of sources has the same floor plan, so the build learns it once. A library's folder may
# have folders of its own; headers are included by their names alone, which no two share.
#   X.c          goes into the folder's library
#   X_test.c     is a program of tests beside what it tests
#   X_fuzz.c     is a libFuzzer target, with its seed corpus in corpus/X_fuzz/ of the library's folder
# `all` is the product; the targets `tests`, `fuzzers` and `benches` are the programs of tests and benchmarks.
add_custom_target(tests)
add_custom_target(fuzzers)
add_custom_target(benches)

# leat_folder(TARGET DIR GLOB|GLOB_RECURSE): a library of a folder, or of all that is in it.
function(leat_folder target dir how)
  file(${how} sources CONFIGURE_DEPENDS ${dir}/*.c)
  file(${how} headers CONFIGURE_DEPENDS ${dir}/*.h)
  set(tests ${sources})
  set(fuzzers ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.c$")
  list(FILTER fuzzers INCLUDE REGEX "_fuzz\\.c$")
  if(tests OR fuzzers)
    list(REMOVE_ITEM sources ${tests} ${fuzzers})
  endif()
  add_library(${target} STATIC ${sources})
  set(folders ${headers})
  list(TRANSFORM folders REPLACE "/[^/]*$" "")
  list(REMOVE_DUPLICATES folders)
  target_include_directories(${target} PUBLIC ${folders})
  set(${target}_tests ${tests} PARENT_SCOPE)
  set(${target}_fuzzers ${fuzzers} PARENT_SCOPE)
endfunction()

# leat_only_for(tests|fuzzers|benches PROGRAM...): not part of the product.
function(leat_only_for target)
  set_target_properties(${ARGN} PROPERTIES EXCLUDE_FROM_ALL ON)
  add_dependencies(${target} ${ARGN})
endfunction()

# leat_unit_test(PREFIX PROGRAM): the test PREFIX.PROGRAM.
function(leat_unit_test prefix program)
  leat_only_for(tests ${program})
  target_compile_options(${program} PRIVATE ${LEAT_TEST_FLAGS})
  add_test(NAME ${prefix}.${program} COMMAND ${program})
  # Code without heap cannot leak, and LeakSanitizer takes seconds per process here.
  set_tests_properties(${prefix}.${program} PROPERTIES LABELS unit TIMEOUT ${LEAT_TIMEOUT}
    ENVIRONMENT ASAN_OPTIONS=detect_leaks=0)
endfunction()

function(leat_tests prefix library tests fuzzers)
  foreach(file ${tests})
    get_filename_component(t ${file} NAME_WE)
    add_executable(${t} ${file})
    target_include_directories(${t} PRIVATE ${CMAKE_SOURCE_DIR}/test)
    target_compile_definitions(${t} PRIVATE LEAT_ROUNDS=${LEAT_ROUNDS}
      LEAT_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    target_link_libraries(${t} PRIVATE ${library} m) # tests may compare with libm
    leat_unit_test(${prefix} ${t})
  endforeach()
  if(LEAT_FUZZ)
    foreach(file ${fuzzers})
      get_filename_component(f ${file} NAME_WE)
      get_filename_component(dir ${file} DIRECTORY)
      if(NOT EXISTS ${dir}/corpus/${f})
        get_filename_component(dir ${dir} DIRECTORY)
      endif()
      add_executable(${f} ${file})
      target_link_libraries(${f} PRIVATE ${library})
      target_link_options(${f} PRIVATE -fsanitize=fuzzer)
      leat_only_for(fuzzers ${f})
      add_dependencies(tests ${f})
      # The first folder collects what the run finds, the second is the seed corpus.
      file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/found/${f})
      add_test(NAME ${prefix}.${f}
        COMMAND ${f} -runs=200000 -max_len=512 -seed=1 ${CMAKE_BINARY_DIR}/found/${f} ${dir}/corpus/${f})
      set_tests_properties(${prefix}.${f} PROPERTIES LABELS fuzz TIMEOUT 3600)
    endforeach()
  endif()
endfunction()

# leat_layer(FOLDER [LIBRARY...]): a layer, named after the last part of its folder (after all of it
# if a room has that name), and the libraries below it.
function(leat_layer folder)
  get_filename_component(name ${folder} NAME)
  if(TARGET leat_${name})
    string(REPLACE "/" "_" name ${folder})
  endif()
  leat_folder(leat_${name} ${CMAKE_SOURCE_DIR}/${folder} GLOB_RECURSE)
  target_link_libraries(leat_${name} PUBLIC ${ARGN})
  leat_tests(${name} leat_${name} "${leat_${name}_tests}" "${leat_${name}_fuzzers}")
endfunction()

# leat_headers(FOLDER): a layer of contracts, without code.
function(leat_headers name)
  add_library(leat_${name} INTERFACE)
  target_include_directories(leat_${name} INTERFACE ${CMAKE_SOURCE_DIR}/${name})
  target_link_libraries(leat_${name} INTERFACE leat_core)
endfunction()

# Purity is a fact of the linker: no clock, no socket, no heap.
function(leat_pure name)
  add_test(NAME ${name}.pure
    COMMAND sh ${CMAKE_SOURCE_DIR}/test/pure.sh $<TARGET_FILE:leat_${name}>)
  set_tests_properties(${name}.pure PROPERTIES LABELS unit)
endfunction()

function(leat_room name)
  leat_folder(leat_${name} ${CMAKE_SOURCE_DIR}/proto/${name} GLOB_RECURSE)
  target_link_libraries(leat_${name} PUBLIC leat_core)
  leat_tests(${name} leat_${name} "${leat_${name}_tests}" "${leat_${name}_fuzzers}")
  leat_pure(${name})
endfunction()

# proto/leat_formats.c: the list of all formats, above the rooms.
function(leat_formats)
  leat_folder(leat_formats ${CMAKE_SOURCE_DIR}/proto GLOB)
  target_link_libraries(leat_formats PUBLIC leat_atm leat_aton leat_esp leat_packetway leat_poets)
  leat_tests(formats leat_formats "${leat_formats_tests}" "${leat_formats_fuzzers}")
endfunction()

# leat_libraries(TARGET...): libleat, shared and static, of these, with the public headers and a
# pkg-config file.
function(leat_libraries)
  set(objects ${ARGN})
  list(TRANSFORM objects REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>")
  foreach(kind SHARED STATIC)
    string(TOLOWER ${kind} suffix)
    add_library(leat_${suffix} ${kind} ${objects})
    set_target_properties(leat_${suffix} PROPERTIES OUTPUT_NAME leat)
  endforeach()
  set_target_properties(leat_shared PROPERTIES VERSION ${LEAT_ABI}.0 SOVERSION ${LEAT_ABI})
  install(TARGETS leat_shared leat_static
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/leat DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  # The file derives its prefix from its own location, since `make install PREFIX=` comes after this.
  file(RELATIVE_PATH LEAT_PC_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  configure_file(${CMAKE_SOURCE_DIR}/cmake/leat.pc.in ${CMAKE_BINARY_DIR}/leat.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/leat.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

# leat_pkgconfig_old(OLD NAME): what was leat-OLD is leat-NAME; the old name is found for one version.
function(leat_pkgconfig_old old name)
  file(CONFIGURE OUTPUT leat-${old}.pc CONTENT "Name: leat-${old}
Description: the former name of leat-${name}
Version: ${PROJECT_VERSION}
Requires: leat-${name}
")
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/leat-${old}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

# leat_pkgconfig(NAME): `pkg-config leat-NAME` finds libleat_NAME and <leat/NAME.h>.
function(leat_pkgconfig name)
  file(RELATIVE_PATH LEAT_PC_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  configure_file(${CMAKE_SOURCE_DIR}/cmake/leat-part.pc.in leat-${name}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/leat-${name}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

# leat_program(TARGET NAME FILE...): a program for OpenCL devices, of these files in this order, as
# lines of text in `const char *const NAME[]`. Devices have no headers: #include is left out.
function(leat_program target name)
  set(lines "")
  foreach(file ${ARGN})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} text)
    string(REGEX REPLACE "#include[^\n]*" "" text "${text}")
    string(REGEX REPLACE "([\\\"])" "\\\\\\1" text "${text}")
    string(REGEX REPLACE "([^\n]*)\n" "    \"\\1\\\\n\",\n" text "${text}")
    string(APPEND lines "${text}")
  endforeach()
  file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}.c CONTENT
    "extern const char *const ${name}[];\nconst char *const ${name}[] = {\n${lines}    0,\n};\n")
  target_sources(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/${name}.c)
endfunction()
