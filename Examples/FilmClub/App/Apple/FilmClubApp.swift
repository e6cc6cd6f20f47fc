// SPDX-License-Identifier: MIT
// Written against Apple's documentation and type-checked on Linux against stubs (Scripts/apple); not run there.

#if canImport(SwiftUI)
import CurlewSampleAPI
import FilmCatalogue
import SwiftUI

@main
struct FilmClubApp: App {
    /// The service in this process, so that the app works without a network.
    private static let sample = try? SampleAPI()

    @State private var club = Self.makeClub()

    var body: some Scene {
        WindowGroup {
            NavigationStack { FilmListView(club: club) }
        }
    }

    private static func makeClub() -> Club {
        let cache = APIFilmService.diskCache(at: URL.cachesDirectory.appending(path: "films.sqlite").path)
        let local = sample.map { [FilmEnvironment.local($0.url)] } ?? []
        return Club(local + [.staging, .production]) { APIFilmService($0, cache: cache) }
    }
}

struct FilmListView: View {
    @Bindable var club: Club

    var body: some View {
        List {
            if let notice = club.list.notice() { OfflineBanner(text: notice) }
            ForEach(club.list.films.items) { film in
                NavigationLink(value: film.id) { FilmRow(film: film) }
                    .onAppear { club.list.films.appeared(film) }
            }
            if club.list.films.isLoading { ProgressView() }
            if let problem = club.list.problem { ProblemView(problem: problem) { await club.list.films.retry() } }
        }
        .navigationTitle("Films")
        .navigationDestination(for: Film.ID.self) { FilmView(screen: club.screen(for: $0)) }
        .toolbar {
            ToolbarItem { environmentPicker }
            ToolbarItem { SignInButton(club: club) }
        }
        .task(id: club.environment) { await club.list.films.load() }
        .refreshable { await club.list.films.refresh() }
    }

    private var environmentPicker: some View {
        let selection = Binding(get: { @MainActor in club.environment }, set: { @MainActor in club.look(at: $0) })
        return Picker("Environment", selection: selection) {
            ForEach(club.environments, id: \.self) { Text($0.name) }
        }
    }
}

private struct FilmRow: View {
    let film: Film

    var body: some View {
        VStack(alignment: .leading) {
            Text(film.title).font(.headline)
            HStack {
                Text(verbatim: "\(film.year)")
                if let rating = film.averageRating { Text("★ \(rating, specifier: "%.1f")") }
            }
            .font(.subheadline)
        }
    }
}

private struct SignInButton: View {
    let club: Club
    @State private var isAsking = false

    var body: some View {
        Button(club.member ?? "Sign in") { isAsking = true }
            .disabled(club.member != nil)
            .sheet(isPresented: $isAsking) { SignInForm(club: club) }
    }
}

/// A sheet that closes itself after a sign-in.
private struct SignInForm: View {
    @Bindable var club: Club
    @Environment(\.dismiss) private var dismiss
    @State private var name = ""
    @State private var password = ""

    var body: some View {
        NavigationStack {
            Form {
                TextField("Name", text: $name).textContentType(.username).autocorrectionDisabled()
                SecureField("Password", text: $password).textContentType(.password).onSubmit { signIn() }
                Button("Sign in", action: signIn).disabled(name.isEmpty || password.isEmpty)
            }
            .navigationTitle("Sign in")
            .toolbar {
                ToolbarItem(placement: .cancellationAction) { Button("Cancel", role: .cancel) { dismiss() } }
            }
            .alert($club.refusal)
        }
    }

    private func signIn() {
        Task {
            await club.signIn(name, password: password)
            if club.member != nil { dismiss() }
        }
    }
}

#Preview("Films") { NavigationStack { FilmListView(club: .preview()) } }
#Preview("Loading") { NavigationStack { FilmListView(club: .preview(.waiting)) } }
#Preview("From the cache") { NavigationStack { FilmListView(club: .preview(.offline)) } }
#Preview("No service") { NavigationStack { FilmListView(club: .preview(.failing)) } }
#Preview("Sign in") { SignInForm(club: .preview()) }
#endif
