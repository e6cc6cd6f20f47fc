// SPDX-License-Identifier: MIT
// Written against Apple's documentation and type-checked on Linux against stubs (Scripts/apple); not run there.

#if canImport(SwiftUI)
import FilmCatalogue
import SwiftUI
import UniformTypeIdentifiers

struct FilmView: View {
    @State private var screen: FilmScreen
    @State private var isChoosingPoster = false

    init(screen: FilmScreen) {
        _screen = State(initialValue: screen)
    }

    var body: some View {
        List {
            if let notice = screen.notice() { OfflineBanner(text: notice) }
            if let problem = screen.problem { ProblemView(problem: problem) { await screen.load() } }
            if let film = screen.film.value?.value {
                Text("\(film.runningMinutes) minutes, \(film.releaseDate.formatted(date: .long, time: .omitted))")
                RatingStars(average: film.averageRating ?? 0) { stars in Task { await screen.rate(stars) } }
                Button("Send a poster") { isChoosingPoster = true }
                if let poster = screen.poster { Text("\(poster.fileName) has arrived.") }
            }
            Section("Characters") {
                ForEach(screen.characters.value?.value ?? [], id: \.self) { character in
                    LabeledContent(character.name, value: character.voicedBy)
                }
            }
        }
        .navigationTitle(screen.film.value?.value.title ?? "")
        .task { await screen.load() }
        .refreshable { await screen.refresh() }
        .alert($screen.refusal)
        .fileImporter(isPresented: $isChoosingPoster, allowedContentTypes: [.image]) { result in
            guard case .success(let file) = result else { return }
            Task { await send(file) }
        }
    }

    private func send(_ file: URL) async {
        // A file that the person chose may be read only between these two.
        guard file.startAccessingSecurityScopedResource() else { return }
        defer { file.stopAccessingSecurityScopedResource() }
        await screen.uploadPoster(file.path)
    }
}

/// Five stars; a tap on one gives this many.
private struct RatingStars: View {
    let average: Double
    let rate: (Int) -> Void

    var body: some View {
        HStack {
            ForEach(1...5, id: \.self) { star in
                Button {
                    rate(star)
                } label: {
                    Image(systemName: Double(star) <= average.rounded() ? "star.fill" : "star")
                }
                .accessibilityLabel("\(star) stars")
            }
        }
        // In a list, plain buttons share one tap.
        .buttonStyle(.borderless)
        .foregroundStyle(.yellow)
    }
}

struct OfflineBanner: View {
    let text: String

    var body: some View {
        Label(text, systemImage: "wifi.slash").font(.footnote).foregroundStyle(.secondary)
    }
}

struct ProblemView: View {
    let problem: FilmError
    let retry: @MainActor () async -> Void

    var body: some View {
        VStack(alignment: .leading, spacing: 8) {
            Text(problem.message)
            Button("Try again") { Task { await retry() } }
        }
    }
}

extension View {
    /// Shows an alert while there is a problem; closing it makes it nil.
    func alert(_ problem: Binding<FilmError?>) -> some View {
        alert(
            problem.wrappedValue?.message ?? "",
            isPresented: Binding(get: { problem.wrappedValue != nil }, set: { if !$0 { problem.wrappedValue = nil } })
        ) {
            Button("OK", role: .cancel) {}
        }
    }
}

#Preview("Film") { NavigationStack { FilmView(screen: .preview()) } }
#Preview("Loading") { NavigationStack { FilmView(screen: .preview(.waiting)) } }
#Preview("From the cache") { NavigationStack { FilmView(screen: .preview(.offline)) } }
#Preview("No service") { NavigationStack { FilmView(screen: .preview(.failing)) } }
#endif
