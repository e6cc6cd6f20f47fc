// SPDX-License-Identifier: MIT

#if !canImport(SwiftUI)
import Curlew
import CurlewUI

/// Where the person is: in the list or in a question. Keys change it, and it says what there is to see.
@MainActor
final class Reader {
    private let list: QuestionsModel
    private let place: String
    private let outage: Outage?
    private var opened: QuestionModel?
    private var selected = 0
    /// Of the list and of the question that is open.
    private var listScroll = 0
    private var questionScroll = 0

    /// - `place`: the origin of the service, for the title.
    /// - `outage`: lets the next call fail; nil where the service is not ours.
    init(client: APIClient, tag: String?, place: String, outage: Outage?) {
        list = QuestionsModel(tag: tag, client: client)
        self.place = place
        self.outage = outage
    }

    var isLoading: Bool { list.questions.isLoading || opened?.avatar.isLoading == true }

    /// Begins to load the list.
    func start() {
        begin { await $0.load() }
    }

    /// Does what a key means; false if that is the end. `page` is how many rows the content has.
    func press(_ key: Key, page: Int) -> Bool {
        switch key {
        case .interrupt, .character("q"): return false
        case .up, .character("k"): move(by: -1)
        case .down, .character("j"): move(by: 1)
        case .pageUp: move(by: -max(1, opened == nil ? page / 2 : page - 1))
        case .pageDown, .character(" "): move(by: max(1, opened == nil ? page / 2 : page - 1))
        case .home: move(by: -100_000)
        case .end: move(by: 100_000)
        case .enter, .right: open()
        case .escape, .left, .character("b"): close()
        case .character("r"): begin { $0.error == nil ? await $0.refresh() : await $0.retry() }
        case .character("f"): outage?.order()
        case .character: break
        }
        return true
    }

    /// The lines to show. `turn` turns the wheel while something loads.
    func lines(in size: Size, turn: Int) -> [Line] {
        var screen = screen(turn: turn)
        defer { if opened == nil { listScroll = screen.scroll } else { questionScroll = screen.scroll } }
        return screen.lines(in: size)
    }

    private func screen(turn: Int) -> Screen {
        let part = part
        let activity = Screen.Activity(isLoading: part.isLoading, error: part.error, turn: turn)
        let fail = outage.map { $0.isOrdered ? " · the next call fails" : " · f fail" } ?? ""
        guard let opened else {
            let title = "Top questions" + (list.tag.map { " about \($0)" } ?? "") + " · \(place)"
            return Screen(
                surroundings: .init(
                    title: title, activity: activity, hint: "↑↓ move · ⏎ open · r refresh · q quit\(fail)"),
                content: .list(list.questions.value, selected: selected), scroll: listScroll)
        }
        return Screen(
            surroundings: .init(
                title: "Question · \(place)", activity: activity, hint: "↑↓ scroll · b back · r refresh · q quit\(fail)"
            ),
            content: .question(opened.question.value ?? opened.summary, Screen.Portrait(opened.avatar)),
            scroll: questionScroll)
    }

    /// What loads on the screen that is shown.
    private var part: any LoadablePart {
        if let opened { opened.avatar } else { list.questions }
    }

    private func begin(_ work: @escaping @MainActor (any LoadablePart) async -> Void) {
        let part = part
        Task { await work(part) }
    }

    private func move(by rows: Int) {
        guard opened == nil else {
            questionScroll = max(0, questionScroll + rows)
            return
        }
        let last = (list.questions.value?.count ?? 0) - 1
        selected = max(0, min(selected + rows, last))
    }

    private func open() {
        guard opened == nil, let questions = list.questions.value, questions.indices.contains(selected) else { return }
        opened = list.open(questions[selected])
        questionScroll = 0
        begin { await $0.load() }
    }

    /// Back to the list. What is still in progress for the question is of no use any more.
    private func close() {
        opened?.avatar.cancel()
        opened = nil
    }
}
#endif
