// SPDX-License-Identifier: MIT

public import CurlewCore

extension RequestContent {
    /// Creates a body of fields and files (RFC 7578):
    ///
    ///     .multipart([.field("title", "Nosferatu"), .file("poster", path: path)])
    ///
    /// The body is created when the call is sent. `send` throws `.invalidRequest` for a file that cannot be read.
    public static func multipart(_ form: MultipartForm) -> RequestContent {
        RequestContent(form.mediaType) { try form.body() }
    }
}
