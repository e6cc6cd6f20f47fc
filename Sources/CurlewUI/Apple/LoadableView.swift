// SPDX-License-Identifier: MIT
// Written against Apple's documentation and type-checked on Linux against stubs (Scripts/apple); not run there.

#if canImport(SwiftUI)
public import CurlewCore
public import SwiftUI

/// Shows a `Loadable`: its value when there is one, else a progress indicator, or the error with a button to try again.
///
///     LoadableView(model.user) { user in Text(user.name) }
///
/// Loads when it appears, and ends that load when it disappears. After a failure it loads when the person asks for it: by
/// the button, or by pulling a list or another scrollable view inside it. A failure while a value is there is shown above
/// the value, which stays. In a list they are rows; outside of one, put it into a stack.
@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
public struct LoadableView<Value: Sendable, Content: View>: View {
    private let loadable: Loadable<Value>
    private let content: (Value) -> Content

    /// A view of `loadable`; `content` shows a value.
    public init(_ loadable: Loadable<Value>, @ViewBuilder content: @escaping (Value) -> Content) {
        self.loadable = loadable
        self.content = content
    }

    /// What the state asks for.
    public var body: some View {
        // One branch for each part, so that the content stays the same view, whose refresh goes on, while errors come
        // and go. Modifiers of a group belong to each view in it: the task is that of the one view for which there is
        // something to load.
        Group {
            if let error = loadable.error { FailureView(error: error) { await loadable.retry() } }
            if let value = loadable.value { content(value) }
            if loadable.state.isWaiting { ProgressView().task { await loadable.appeared() } }
        }
        .refreshable { [loadable] in await loadable.refresh() }
    }
}

/// An error in the words for the person at the screen, and a button that tries again.
@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
public struct FailureView: View {
    private let error: NetworkError
    private let retry: @MainActor () async -> Void

    /// A view of `error`.
    public init(error: NetworkError, retry: @escaping @MainActor () async -> Void) {
        self.error = error
        self.retry = retry
    }

    /// The texts and the button.
    public var body: some View {
        VStack(spacing: 8) {
            Text(error.message).font(.headline)
            if let suggestion = error.recoverySuggestion { Text(suggestion).font(.subheadline) }
            Button("Try again") { Task { await retry() } }
        }
        .multilineTextAlignment(.center)
        .padding()
    }
}

@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
extension View {
    /// Shows an alert while `error` is not nil, in the words for the person at the screen; closing it makes it nil.
    public func alert(_ error: Binding<NetworkError?>) -> some View {
        alert(
            error.wrappedValue?.message ?? "",
            isPresented: Binding(get: { error.wrappedValue != nil }, set: { if !$0 { error.wrappedValue = nil } }),
            presenting: error.wrappedValue
        ) { _ in
            Button("OK", role: .cancel) {}
        } message: { failure in
            Text(failure.recoverySuggestion ?? "")
        }
    }
}
#endif
