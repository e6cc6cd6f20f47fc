// SPDX-License-Identifier: MIT
// Written against Apple's documentation. On Linux it is type-checked against stubs (Scripts/apple), but not run.

#if canImport(SwiftUI)
public import CurlewCore
public import SwiftUI

/// A view that shows the state of a `Loadable`: its value if there is one, otherwise a progress indicator, or the error
/// with a retry button.
///
///     LoadableView(model.user) { user in Text(user.name) }
///
/// The view loads the value when it appears, and cancels that load when it disappears, unless other callers wait for
/// it. After a failure the view loads again only when the user requests it: with the retry button, or by pulling to
/// refresh a list or another scrollable view inside the view. If an error occurs while there is a value, the view shows
/// the error above the value. In a list, the error and the value are separate rows; outside a list, put the view into a
/// stack.
@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
public struct LoadableView<Value: Sendable, Content: View>: View {
    private let loadable: Loadable<Value>
    private let content: (Value) -> Content

    /// Creates a view that shows the state of `loadable`, and its value with `content`.
    public init(_ loadable: Loadable<Value>, @ViewBuilder content: @escaping (Value) -> Content) {
        self.loadable = loadable
        self.content = content
    }

    /// The views for the current state: the error, the value, or the progress indicator.
    public var body: some View {
        // Each part has its own branch. Errors can then appear and disappear while the content keeps its identity and
        // its refresh continues. The modifiers of a group apply to each view in it, so only the progress indicator has
        // the task: it is shown exactly while there is something to load.
        Group {
            if let error = loadable.error { FailureView(error: error) { await loadable.retry() } }
            if let value = loadable.value { content(value) }
            if loadable.state.isWaiting { ProgressView().task { await loadable.appeared() } }
        }
        .refreshable { [loadable] in await loadable.refresh() }
    }
}

/// A view that shows the user-facing text of an error and a retry button.
@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
public struct FailureView: View {
    private let error: NetworkError
    private let retry: @MainActor () async -> Void

    /// Creates a view that shows `error`. Its button calls `retry`.
    public init(error: NetworkError, retry: @escaping @MainActor () async -> Void) {
        self.error = error
        self.retry = retry
    }

    /// The error message, the recovery suggestion if there is one, and the retry button.
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
    /// Presents an alert with the user-facing text of `error` while it is not nil. Dismissing the alert sets `error` to
    /// nil.
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
