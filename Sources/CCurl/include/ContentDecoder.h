// SPDX-License-Identifier: MIT
//
// Content codings (RFC 9110 §8.4.1), undone piece by piece. libcurl can do that as well, but takes the end of a body
// for the end of its coding: a body that was cut off would look whole. The libraries are those that libcurl has loaded;
// they are looked up, because the package does not link them.

#ifndef CURLEW_CONTENT_DECODER_H
#define CURLEW_CONTENT_DECODER_H

#if defined(__linux__)

#include <stddef.h>
#include <stdint.h>

enum curlew_coding { CURLEW_GZIP, CURLEW_DEFLATE, CURLEW_BROTLI, CURLEW_ZSTD };

typedef struct curlew_decoder curlew_decoder;

/// Whether the library is there.
int curlew_can_decode(int coding);

/// NULL when there is no memory, or no library.
curlew_decoder *curlew_decoder_create(int coding);

void curlew_decoder_destroy(curlew_decoder *decoder);

/// Decodes as much as there is input and room, and adds what it took and gave to the counts. Zero when the input is not
/// what its coding says. To be called until it gives nothing: output may be left although all input was taken. What
/// follows the end of a coding is taken and ignored; behind zstd it has to be another frame, and what begins with 1F
/// behind gzip another member.
int curlew_decoder_run(
    curlew_decoder *decoder, const uint8_t *input, size_t input_length, size_t *taken, uint8_t *output,
    size_t output_length, size_t *given);

/// Whether the coding has come to its end.
int curlew_decoder_is_complete(const curlew_decoder *decoder);

#endif
#endif
