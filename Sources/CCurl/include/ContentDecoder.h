// SPDX-License-Identifier: MIT
//
// Decodes content codings (RFC 9110 §8.4.1) piece by piece. libcurl can decode them too, but treats the end of a body
// as the end of its coding, so a truncated body would look complete. The system's libraries are looked up at run time,
// because the package does not link them. libcurl has usually loaded them already.

#ifndef CURLEW_CONTENT_DECODER_H
#define CURLEW_CONTENT_DECODER_H

#if defined(__linux__)

#include <stddef.h>
#include <stdint.h>

enum curlew_coding { CURLEW_GZIP, CURLEW_DEFLATE, CURLEW_BROTLI, CURLEW_ZSTD };

typedef struct curlew_decoder curlew_decoder;

/// Returns whether the system has the library for this coding.
int curlew_can_decode(int coding);

/// Creates a decoder for one coding. Returns NULL if memory is exhausted or the library is missing.
curlew_decoder *curlew_decoder_create(int coding);

/// Destroys a decoder. Does nothing if `decoder` is NULL.
void curlew_decoder_destroy(curlew_decoder *decoder);

/// Decodes as much as the input and the room for output allow, and adds the numbers of consumed and produced bytes to
/// `taken` and `given`. Returns 0 if the input is invalid for its coding.
///
/// Call this function until it produces nothing: output may remain although all input was consumed. Bytes after the end
/// of a coding are consumed and ignored, with two exceptions. After zstd, they must be another frame. After gzip, bytes
/// that begin with 1F must be another member.
int curlew_decoder_run(
    curlew_decoder *decoder, const uint8_t *input, size_t input_length, size_t *taken, uint8_t *output,
    size_t output_length, size_t *given);

/// Returns whether the coding has reached its end.
int curlew_decoder_is_complete(const curlew_decoder *decoder);

#endif
#endif
