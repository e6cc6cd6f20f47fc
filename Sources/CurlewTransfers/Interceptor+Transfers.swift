// SPDX-License-Identifier: MIT

public import CurlewCore

extension Interceptor where Self == BuiltInInterceptor {
    /// Compresses the bodies of requests with gzip (RFC 9110 §8.4), for servers that accept `Content-Encoding: gzip`.
    ///
    ///     Pipeline.standard.adding(.compressingRequests())
    ///
    /// The interceptor is not part of `Pipeline.standard`, because a server that does not know the coding may respond
    /// with any error, or store the compressed bytes.
    ///
    /// - Only text, JSON, XML, JavaScript, SVG, YAML and forms in one line are compressed, by `Content-Type`. Images,
    ///   archives, multipart forms and bodies without a type are sent unchanged.
    /// - A body in memory is compressed before it is sent, and sent unchanged if it does not become smaller. Its length
    ///   stays known.
    /// - A request with `Content-Encoding`, `Content-Range` or a digest of its content is sent unchanged.
    /// - After a 415, and after a 411 to a body without a length, the request is sent once more, unchanged, if the body
    ///   can be produced again. If that helps, the origin receives no such bodies for an hour. At most 64 origins are
    ///   remembered. A 415 whose `Accept-Encoding` lists gzip is returned: it refuses the media type.
    /// - Signatures cover the compressed body, because signing comes later (`Placement.signing`). Logs at their default
    ///   placement show the body before compression.
    ///
    /// The size of a compressed body depends on its content: where an attacker chooses a part of it and observes the
    /// size of the request, the rest can be guessed. Do not compress bodies that contain both.
    ///
    /// - `minimum`: the smallest body that is compressed, in bytes. Default 1,024, below which the packets do not become
    ///   fewer. A negative number is a configuration error.
    /// - `streaming`: whether files and streams are compressed while they are sent, in constant memory. Their length
    ///   then becomes unknown (`Transfer-Encoding: chunked` in HTTP/1.1), which some servers refuse. A stream passes on
    ///   each chunk when it has been produced. Default false.
    public static func compressingRequests(
        above minimum: Int = 1024, streaming: Bool = false
    ) -> BuiltInInterceptor {
        BuiltInInterceptor(CompressionInterceptor(minimum: minimum, streaming: streaming))
    }
}
