// SPDX-License-Identifier: MIT

public import CurlewCore

extension RequestContent {
    /// Creates a body of fields and files (RFC 7578):
    ///
    ///     .multipart([.field("title", "Nosferatu"), .file("poster", path: path)])
    ///
    /// The body is created when the call is sent. `send` throws `.invalidRequest` for a file that cannot be read, and
    /// `.encoding` for a value that cannot be encoded.
    public static func multipart(_ form: MultipartForm) -> RequestContent {
        RequestContent(form.mediaType, encoding: { codecs in try form.body(using: codecs) })
    }
}
