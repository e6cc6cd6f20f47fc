// SPDX-License-Identifier: MIT

/// The manual page `curlew.1`, which is generated from the tables.
enum ManualPage {
    static var text: String {
        var page = ".TH CURLEW 1 \"\" \"\(escaped(HelpText.version))\" \"User Commands\"\n"
        page += ".SH NAME\ncurlew \\- send HTTP requests, and see what happens\n.SH SYNOPSIS\n"
        page += CommandSpec.all.map { ".B curlew\n\(escaped($0.usage))\n" }.joined(separator: ".br\n")
        page += ".SH DESCRIPTION\n"
        page += "A URL without a scheme is https, or http for this machine. \\fB:8080/path\\fR is a path on localhost. "
        page += "The method is POST if there is a body, otherwise GET.\n"
        page += ".SH ITEMS\n" + entries(HelpText.items)
        page += ".SH COMMANDS\n"
        page += entries(CommandSpec.all.filter { $0.name != .request }.map { ($0.usage, $0.summary) })
        page += ".SH OPTIONS\n"
        for section in OptionGroup.sections(OptionGroup.allCases) {
            page += ".SS \(escaped(section.title))\n"
            page += entries(section.options.map { ($0.signature, $0.help) })
        }
        page += ".SH EXIT STATUS\n" + entries(ExitCode.allCases.map { ("\($0.rawValue)", $0.meaning) })
        page += ".SH ENVIRONMENT\n" + entries(environment)
        return page
    }

    static let environment: [(String, String)] = [
        ("NO_COLOR", "If it is set and not empty, the output has no colours."),
        ("http_proxy, https_proxy, all_proxy, no_proxy", "The proxies, unless --proxy is given."),
        ("XDG_CONFIG_HOME", "The folder with curlew/sessions. Default ~/.config."),
    ]

    private static func entries(_ rows: [(String, String)]) -> String {
        rows.map { ".TP\n.B \(escaped($0.0))\n\(escaped($0.1))\n" }.joined()
    }

    /// Returns text that roff prints as it is.
    static func escaped(_ text: String) -> String {
        let body = text.reduce(into: "") { result, character in
            switch character {
            case "\\": result += "\\e"
            case "-": result += "\\-"
            case "\"": result += "\\(dq"
            default: result.append(character)
            }
        }
        return body.starts(with: ".") || body.starts(with: "'") ? "\\&" + body : body
    }
}
