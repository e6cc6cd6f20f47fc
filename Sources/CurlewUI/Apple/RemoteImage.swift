// SPDX-License-Identifier: MIT
// This file was written against Apple's documentation. On Linux it is type-checked against stubs (Scripts/apple), but
// not run.

import CurlewFoundation

#if canImport(SwiftUI)
public import CurlewCore
public import CurlewTransfers
public import SwiftUI

#if canImport(UIKit)
import UIKit
#elseif canImport(AppKit)
import AppKit
#endif

/// A view that loads an image from a URL and shows it. The client applies its cache and its limits, and sends
/// credentials only to their own origin.
///
///     RemoteImage(url: question.owner.avatar, client: client)
///
/// The view can be used in reused cells: a new URL cancels the load from the previous URL, and the previous image is
/// never shown for the new URL. The placeholder stays if the load fails, if the data is
/// not an image, and for an image of more than `ImageData.defaultPixelLimit` pixels.
@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
public struct RemoteImage: View {
    private enum Source {
        case url(String, APIClient)
        case data(Loadable<Data>)
        case image(Loadable<ImageData>)
    }

    private let source: Source
    @State private var shown: (url: String, image: Image)?

    /// Creates a view that shows the image at `url`. `client` loads the image when the view appears.
    public init(url: String, client: APIClient) {
        source = .url(url, client)
    }

    /// Creates a view that shows the image whose data a model loads, such as `RemoteImage(model.avatar)`. The load
    /// begins when the view appears.
    public init(_ image: Loadable<Data>) {
        source = .data(image)
    }

    /// Creates a view of the image that a model loads with `.image(url:)`. The load begins when the view appears.
    public init(_ image: Loadable<ImageData>) {
        source = .image(image)
    }

    /// The image, resizable, or a grey placeholder while there is none.
    public var body: some View {
        switch source {
        case .url(let url, let client): view(of: url, client)
        case .data(let loadable): view(of: loadable) { try? ImageData($0) }
        case .image(let loadable): view(of: loadable) { $0 }
        }
    }

    private func view<Value>(of loadable: Loadable<Value>, _ data: (Value) -> ImageData?) -> some View {
        ZStack {
            if let image = loadable.value.flatMap(data).flatMap({ Image($0) }) {
                image.resizable()
            } else {
                Color.secondary.opacity(0.15)
            }
        }
        .task { await loadable.appeared() }
    }

    private func view(of url: String, _ client: APIClient) -> some View {
        // The task applies to the stack. In a group, it would apply to each view that appears and disappears.
        ZStack {
            if let shown, shown.url == url { shown.image.resizable() } else { Color.secondary.opacity(0.15) }
        }
        .task(id: url) {
            guard shown?.url != url else { return }
            let data = try? await client.send(.image(url: url))
            guard let data, !Task.isCancelled, let image = Image(data) else { return }
            shown = (url, image)
        }
    }
}

@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
extension Image {
    /// Creates a SwiftUI image. Returns nil if the platform cannot decode the format.
    public init?(_ data: ImageData) {
        #if canImport(UIKit)
        guard let image = UIImage(data: data.bytes) else { return nil }
        self.init(uiImage: image)
        #elseif canImport(AppKit)
        guard let image = NSImage(data: data.bytes) else { return nil }
        self.init(nsImage: image)
        #else
        return nil
        #endif
    }
}
#endif
