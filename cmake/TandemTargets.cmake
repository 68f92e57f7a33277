# One way to declare each kind of target. Every folder of src/ is one library, so that the linker
# enforces the direction of dependencies (docs/architecture.md).

set(TANDEM_WARNINGS -Wall -Wextra -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 sees overlaps in std::string's operator+ that are not there (GCC bug 105651).
  list(APPEND TANDEM_WARNINGS -Wno-restrict)
endif()
set(TANDEM_SANITIZE_FLAGS "")
if(TANDEM_SANITIZE)
  set(TANDEM_SANITIZE_FLAGS -fsanitize=${TANDEM_SANITIZE} -fno-sanitize-recover=all
                            -fno-omit-frame-pointer)
  # Instrumented code hides from g++ that a Result's error is only read when there is one.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    list(APPEND TANDEM_SANITIZE_FLAGS -Wno-maybe-uninitialized)
  endif()
endif()
if(TANDEM_FUZZERS)
  # Coverage of the libraries too: without it libFuzzer only sees the target's own file.
  list(APPEND TANDEM_SANITIZE_FLAGS -fsanitize=fuzzer-no-link)
endif()

# No fused multiply-add behind our back: where a formula fuses, it says std::fma (docs/numerics.md).
set(TANDEM_NUMERIC_FLAGS -ffp-contract=off -fno-math-errno)

function(tandem_compile_settings target)
  target_compile_options(${target} PRIVATE ${TANDEM_WARNINGS} ${TANDEM_NUMERIC_FLAGS}
                                           ${TANDEM_SANITIZE_FLAGS})
  target_link_options(${target} PRIVATE ${TANDEM_SANITIZE_FLAGS})
endfunction()

# tandem_library(<folder> SOURCES ... [DEPS ...]): the static library tandem_<folder>.
function(tandem_library folder)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS" ${ARGN})
  add_library(tandem_${folder} STATIC ${arg_SOURCES})
  target_include_directories(
    tandem_${folder} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
                            $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                            $<INSTALL_INTERFACE:include>)
  list(TRANSFORM arg_DEPS REPLACE "^([a-z_]+)$" "tandem_\\1")
  target_link_libraries(tandem_${folder} PUBLIC ${arg_DEPS})
  tandem_compile_settings(tandem_${folder})
  set_property(GLOBAL APPEND PROPERTY TANDEM_LIBRARIES tandem_${folder})
endfunction()

# tandem_isa_sources(<folder> <isa> FLAGS ... SOURCES ...): adds sources that alone may use an ISA.
function(tandem_isa_sources folder)
  cmake_parse_arguments(arg "" "" "FLAGS;SOURCES" ${ARGN})
  target_sources(tandem_${folder} PRIVATE ${arg_SOURCES})
  # No LTO and no exceptions: the linker must never hand this code to another path.
  set_source_files_properties(${arg_SOURCES} PROPERTIES COMPILE_OPTIONS
                                                        "${arg_FLAGS};-fno-lto;-fno-exceptions")
endfunction()

# tandem_test(<name> SOURCES ... DEPS ...): a GoogleTest program, one ctest entry.
function(tandem_test name)
  if(NOT TANDEM_TESTS)
    return()
  endif()
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS;LABELS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  list(TRANSFORM arg_DEPS REPLACE "^([a-z_]+)$" "tandem_\\1")
  target_link_libraries(${name} PRIVATE ${arg_DEPS} GTest::gtest_main GTest::gmock)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${name} PRIVATE TANDEM_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  tandem_compile_settings(${name})
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}")
endfunction()

# tandem_benchmark(<name> SOURCES ... DEPS ...): a Google Benchmark program.
function(tandem_benchmark name)
  if(NOT TANDEM_BENCHMARKS)
    return()
  endif()
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  list(TRANSFORM arg_DEPS REPLACE "^([a-z_]+)$" "tandem_\\1")
  target_link_libraries(${name} PRIVATE ${arg_DEPS} benchmark::benchmark_main)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  tandem_compile_settings(${name})
endfunction()

# tandem_fuzzer(<name> SOURCES ... DEPS ...): a libFuzzer program; clang with TANDEM_FUZZERS only.
# Without it the same source becomes a ctest entry that replays the seed corpus.
function(tandem_fuzzer name)
  cmake_parse_arguments(arg "" "CORPUS" "SOURCES;DEPS" ${ARGN})
  list(TRANSFORM arg_DEPS REPLACE "^([a-z_]+)$" "tandem_\\1")
  if(TANDEM_FUZZERS)
    add_executable(${name} ${arg_SOURCES})
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    set_property(GLOBAL APPEND PROPERTY TANDEM_FUZZER_TARGETS ${name})
  elseif(TANDEM_TESTS)
    add_executable(${name} ${arg_SOURCES} ${PROJECT_SOURCE_DIR}/tests/fuzz/replay_main.cc)
    add_test(NAME ${name}_replay COMMAND ${name} ${arg_CORPUS})
  else()
    return()
  endif()
  target_link_libraries(${name} PRIVATE ${arg_DEPS})
  target_compile_options(${name} PRIVATE $<$<BOOL:${TANDEM_FUZZERS}>:-fsanitize=fuzzer>)
  tandem_compile_settings(${name})
endfunction()

# Flags of each row of kernels/isa.h; a source file of that row gets these and no other source does.
# Sanitizers make optimised, unrolled kernels take minutes to compile each: watching the scopes of
# thousands of vector temporaries, and every pointer of thousands of loads twice. What those find, the
# address sanitizer finds when the load happens.
set(TANDEM_KERNEL_OPTIMIZATION -O3)
if(TANDEM_SANITIZE)
  set(TANDEM_KERNEL_OPTIMIZATION -O1 -g1 -fno-sanitize-address-use-after-scope
      -fno-sanitize=null,alignment,object-size,pointer-overflow)
endif()
set(TANDEM_AVX2_FLAGS -mavx2 -mfma -mf16c ${TANDEM_KERNEL_OPTIMIZATION})
set(TANDEM_AVX512_FLAGS -mavx2 -mfma -mf16c -mavx512f -mavx512bw -mavx512dq -mavx512vl
                        -mavx512vnni -mprefer-vector-width=512 ${TANDEM_KERNEL_OPTIMIZATION})
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12's own avx512fintrin.h leaves a don't-care operand uninitialized (GCC bug 105593).
  list(APPEND TANDEM_AVX512_FLAGS -Wno-uninitialized -Wno-maybe-uninitialized)
endif()
set(TANDEM_AVX512_BF16_FLAGS ${TANDEM_AVX512_FLAGS} -mavx512bf16)
set(TANDEM_AMX_FLAGS ${TANDEM_AVX512_BF16_FLAGS} -mamx-tile -mamx-int8 -mamx-bf16)

# tandem_kernel(<op> SOURCES ... [AVX2 ...] [AVX512 ...] [AVX512_BF16 ...] [AMX ...] [DEPS ...]): library tandem_kernels_<op>
# with the vector rows this build can have; TANDEM_KERNELS_X86 tells kernels.inc that they exist.
function(tandem_kernel op)
  cmake_parse_arguments(arg "" "" "SOURCES;AVX2;AVX512;AVX512_BF16;AMX;DEPS" ${ARGN})
  tandem_library(kernels_${op} SOURCES ${arg_SOURCES} DEPS tensor ${arg_DEPS})
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND NOT TANDEM_SCALAR_ONLY)
    target_compile_definitions(tandem_kernels_${op} PUBLIC TANDEM_KERNELS_X86=1)
    tandem_isa_sources(kernels_${op} FLAGS ${TANDEM_AVX2_FLAGS} SOURCES ${arg_AVX2})
    tandem_isa_sources(kernels_${op} FLAGS ${TANDEM_AVX512_FLAGS} SOURCES ${arg_AVX512})
    foreach(isa AVX512_BF16 AMX)
      if(arg_${isa})
        tandem_isa_sources(kernels_${op} FLAGS ${TANDEM_${isa}_FLAGS} SOURCES ${arg_${isa}})
      endif()
    endforeach()
  endif()
endfunction()
