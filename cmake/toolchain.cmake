# What every target is built with: C++20, warnings as errors, ccache and mold where present.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()
find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM)
  add_link_options(-fuse-ld=mold)
endif()

find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(Threads REQUIRED)

set(TG_SANITIZE "" CACHE STRING "Comma separated list for -fsanitize")
if(TG_SANITIZE)
  # -O1 -g1: g++ takes several times longer over instrumented code at -O2, and finds nothing more.
  add_compile_options(-O1 -g1 -fsanitize=${TG_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${TG_SANITIZE})
endif()

add_library(tg_flags INTERFACE)
# Instrumented code makes g++ 12 warn falsely, so warnings are errors only without sanitizers.
set(TG_WERROR -Werror)
if(TG_SANITIZE)
  set(TG_WERROR "")
endif()
target_compile_options(tg_flags INTERFACE -Wall -Wextra ${TG_WERROR} -Wconversion -Wshadow -Wswitch-enum)
# g++ 12 warns falsely about "literal" + std::string (GCC bug 105651).
target_compile_options(tg_flags INTERFACE -Wno-restrict)
# Floating point must be PyTorch's: no contraction of a*b+c, no reassociation.
target_compile_options(tg_flags INTERFACE -ffp-contract=off)
target_include_directories(tg_flags INTERFACE ${PROJECT_SOURCE_DIR})
target_link_libraries(tg_flags INTERFACE fmt::fmt)

# tg_library(NAME LINKS a b SOURCES x.cpp ...): a room of core.
function(tg_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS;PRIVATE_LINKS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC tg_flags ${ARG_LINKS} PRIVATE ${ARG_PRIVATE_LINKS})
endfunction()
