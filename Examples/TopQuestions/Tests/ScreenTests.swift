// SPDX-License-Identifier: MIT

#if !canImport(SwiftUI)
import Curlew
import CurlewSampleAPI
import Testing

@testable import TopQuestions

@Suite("Screens", .timeLimit(.minutes(1)))
@MainActor
struct ScreenTests {
    private nonisolated static let sizes = [
        Size(columns: 120, rows: 40), Size(columns: 80, rows: 24), Size(columns: 31, rows: 9),
        Size(columns: 10, rows: 4), Size(columns: 3, rows: 2), Size(columns: 1, rows: 1), Size(columns: 200, rows: 1),
        Size(columns: 1, rows: 50),
    ]

    private func screen(_ content: Screen.Content, _ activity: Screen.Activity = .none) -> Screen {
        Screen(surroundings: .init(title: "Title", activity: activity, hint: "q quit"), content: content)
    }

    private func questions() async throws -> [Question] {
        try await APIClient.preview.send(QuestionList())
    }

    private func avatar() async throws -> Data {
        let service = try SampleAPI()
        defer { service.stop() }
        return try await APIClient().send(Request<Data>.get(url: service.assetsURL + "/avatars/ada-lovelace.png"))
    }

    @Test("every screen fills its size exactly, and nothing overflows", arguments: sizes)
    func sizes(size: Size) async throws {
        let questions = try await questions()
        let contents: [Screen.Content] = [
            .list(questions, selected: 1), .list(nil, selected: 0), .question(questions[0], .expected),
            .question(questions[1], .here(Picture(try await avatar()))),
        ]
        let failure = Screen.Activity.failed(message: "The server had a problem.", suggestion: "Try again later.")
        for content in contents {
            for activity in [Screen.Activity.none, .loading(3), failure] {
                var screen = screen(content, activity)
                screen.scroll = 1000
                let lines = screen.lines(in: size)
                #expect(lines.count == size.rows)
                #expect(lines.allSatisfy { $0.columns <= size.columns })
            }
        }
    }

    @Test("the list has two lines for a question, and marks the one that is selected")
    func list() async throws {
        var screen = screen(.list(try await questions(), selected: 0))
        #expect(
            screen.lines(in: Size(columns: 60, rows: 8)).map(\.text) == [
                " Title" + String(repeating: " ", count: 54),
                "▸ 1.2k  What is the difference between let & var?",
                "        12 answers · 3.4M views · 2014-06-09 · swift, varia…",
                "    99  配列を並べ替えるには？",
                "        1 answer · 950 views · 2020-04-28 · swift, sorting",
                "", "", " q quit",
            ])
    }

    @Test("an empty list says so, one that is not there yet does not")
    func empty() {
        var none = screen(.list([], selected: 0))
        #expect(none.lines(in: Size(columns: 40, rows: 6))[1].text == " No questions.")
        var unknown = screen(.list(nil, selected: 0))
        #expect(unknown.lines(in: Size(columns: 40, rows: 6))[1].text == "")
    }

    @Test("the selected question is always in sight")
    func focus() async throws {
        let questions = try await questions()
        var screen = screen(.list(questions + questions, selected: 3))
        #expect(screen.lines(in: Size(columns: 40, rows: 4))[1].text.hasPrefix("▸"))
        #expect(screen.scroll == 6)
        screen.content = .list(questions + questions, selected: 2)
        #expect(screen.lines(in: Size(columns: 40, rows: 4))[1].text.hasPrefix("▸"))
        #expect(screen.lines(in: Size(columns: 40, rows: 1))[0].text.hasPrefix("▸"), "one row shows its title")
        #expect(screen.lines(in: Size(columns: 40, rows: 12))[1].text.contains("1.2k"), "and room shows what is before")
    }

    @Test("a question is its title, what is known of it, its text, and who asked")
    func question() async throws {
        var screen = screen(.question(try await questions()[0], .none))
        #expect(
            screen.lines(in: Size(columns: 40, rows: 20)).map(\.text).dropFirst().prefix(15) == [
                " What is the difference between let &", " var?", " 1.2k votes · 12 answers · 3.4M views ·…",
                " swift, variables", "", " Both name a value.", "", " let one = 1", " var two = 2", "",
                " When is <which> right?", "", " Alan Turing", " 91k reputation", " ",
            ])
    }

    @Test("what loads and what failed is shown below")
    func activity() {
        var loading = screen(.list([], selected: 0), .loading(12))
        #expect(loading.lines(in: Size(columns: 40, rows: 6))[4].text == " ⠹ Loading …")
        let failure = Screen.Activity(isLoading: false, error: NetworkError(statusCode: 503), turn: 0)
        var failed = screen(.list([], selected: 0), failure)
        #expect(
            failed.lines(in: Size(columns: 80, rows: 2))[1].text
                == " ✗ The service is not available right now. Try again later. (r)")
        // A narrow terminal gets the whole text all the same, at the cost of the content.
        #expect(
            failed.lines(in: Size(columns: 24, rows: 12)).map(\.text).suffix(5) == [
                "", " ✗ The service is not", " available right now.", " Try again later. (r)", " q quit",
            ])
    }

    @Test("the sample server's pictures are drawn, others are named")
    func pictures() async throws {
        let picture = Picture(try await avatar())
        let lines = picture.lines(columns: 16)
        #expect(picture.about == "PNG, 1 kB")
        #expect(lines.count == 8 && lines.allSatisfy { $0.columns == 16 })
        let drawn = lines.map(Painter(environment: ["NO_COLOR": "1"]).paint)
        // The last column is the margin; the pattern before it is symmetric.
        let patterns = drawn.map { $0.dropLast() }
        #expect(Set(patterns.joined()).count > 1 && patterns.allSatisfy { String($0.reversed()) == $0 })

        for data in [Data(), Data("GIF89a".utf8), Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])] {
            #expect(Picture(data).lines(columns: 16) == [])
        }
        #expect(Picture(Data("GIF89a".utf8)).about == "GIF, 1 kB")
    }

    @Test("no picture of broken bytes is drawn beyond its bytes")
    func brokenPictures() async throws {
        let bytes = Array(try await avatar())
        for length in stride(from: 0, to: bytes.count - 12, by: 7) {
            #expect(Picture(Data(bytes.prefix(length))).lines(columns: 4) == [])
        }
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 0xFF
            let count = Picture(Data(changed)).lines(columns: 4).count
            #expect(count == 0 || count == 2)
        }
    }
}

@Suite("Options", .timeLimit(.minutes(1)))
struct OptionsTests {
    @Test("the command line is read, and what means nothing is refused")
    func options() {
        #expect(Options([])?.isLive == false)
        let live = Options(["--live", "--tag", "swiftui"])
        #expect(live?.isLive == true && live?.tag == "swiftui")
        #expect(Options(["--help"])?.wantsHelp == true)
        for wrong in [["--lives"], ["--live", "--slow"], ["--tag"], ["--tag", "--live"], ["x"]] {
            #expect(Options(wrong) == nil)
        }
    }
}
#endif
