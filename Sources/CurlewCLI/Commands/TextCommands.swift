// SPDX-License-Identifier: MIT

/// The commands that only print a text.
struct TextCommands {
    let arguments: ParsedArguments
    let console: Console

    func run() throws -> ExitCode {
        switch arguments.command {
        case .completions:
            guard let shell = arguments.operands.first, let text = CompletionText.text(for: shell) else {
                throw UsageError("The shell is missing or unknown.", "Write curlew completions bash, zsh or fish.")
            }
            try console.write(text)
        case .man:
            try console.write(ManualPage.text)
        default:
            guard let topic = arguments.operands.first else {
                try console.write(HelpText.overview(columns: console.io.columns))
                return .success
            }
            guard let text = HelpText.topic(topic, columns: console.io.columns) else {
                let topics = ["items", "exit-codes"] + CommandName.allCases.map(\.rawValue)
                let nearest = EditDistance.nearest(to: topic, in: topics)
                throw UsageError(
                    "There is no help for \"\(topic)\".",
                    nearest.map { "Did you mean \($0)?" } ?? "Topics: \(topics.joined(separator: ", ")).")
            }
            try console.write(text)
        }
        return .success
    }
}
