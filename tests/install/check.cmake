# Installs the package into a scratch folder, builds the examples against it as a user would, and
# runs both: cmake -DBUILD=... -DSOURCE=... -DWORK=... -P check.cmake
file(REMOVE_RECURSE ${WORK})

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE error)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${ARGN}\n${output}${error}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
run(${CMAKE_COMMAND} -S ${SOURCE}/examples -B ${WORK}/build -DCMAKE_PREFIX_PATH=${WORK}/prefix
    -DCMAKE_C_COMPILER=${C_COMPILER} -DCMAKE_CXX_COMPILER=${CXX_COMPILER})
run(${CMAKE_COMMAND} --build ${WORK}/build)
foreach(program ask ask_c)
  run(${WORK}/build/${program} ${SOURCE}/models/demo/demo-f16.gguf "What is the opposite of small?")
  if(NOT output MATCHES "^big\\.")
    message(FATAL_ERROR "${program} answered: ${output}")
  endif()
endforeach()

# A missing model is an error with its name, not a crash.
execute_process(COMMAND ${WORK}/build/ask_c ${WORK}/none.gguf hello RESULT_VARIABLE code
                ERROR_VARIABLE error OUTPUT_QUIET)
if(NOT code EQUAL 1 OR NOT error MATCHES "none\\.gguf")
  message(FATAL_ERROR "missing model: exit ${code}, ${error}")
endif()
