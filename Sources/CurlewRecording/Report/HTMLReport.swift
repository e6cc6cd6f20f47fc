// SPDX-License-Identifier: MIT

import CurlewCore

/// One HTML page that shows the exchanges of a HAR document: as a waterfall of calls, attempts and redirects, with the
/// reason for each decision, filters, and details.
///
///     let page = HTMLReport(try HARDocument(data)).text
///
/// - The page is one file. It loads nothing, and its content security policy forbids the browser to connect anywhere.
/// - Text of the document is data. It cannot run as a script or change the page, whatever it contains.
/// - The page can be used with the keyboard: arrow keys, Enter, Escape, and `/` to search. Its colours follow the dark
///   or light scheme of the system.
/// - The secrets of the document are in the page. The recorder redacts them when it records. For a document of another
///   program, use `HARDocument.redacted(_:opaqueBodies:)` first.
public struct HTMLReport: Sendable {
    /// The HTML text, in UTF-8.
    public let text: String

    /// Creates the page.
    ///
    /// - `title`: the title of the page.
    /// - `limit`: the maximum size of the page in bytes. If the document is larger, the page omits the oldest bodies,
    ///   and then the oldest entries, and states this. Default 5 MB.
    public init(_ document: HARDocument, title: String = "HTTP exchanges", limit: Int = 5_000_000) {
        let room = max(0, limit - Self.frameSize - title.utf8.count * 6)
        let data = ReportData(document, room: room)
        text = Self.page(title: title, data: data.text)
    }

    private static let frameSize = page(title: "", data: "").utf8.count + 1024

    private static func page(title: String, data: String) -> String {
        ReportPage.start + escaped(title) + ReportPage.middle + data + ReportPage.end
    }

    /// Returns the text with the special characters of HTML escaped.
    private static func escaped(_ text: String) -> String {
        text.printable.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "&": result += "&amp;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.unicodeScalars.append(scalar)
            }
        }
    }
}
