// SPDX-License-Identifier: MIT
// Written against Apple's documentation. On Linux it is type-checked against stubs (Scripts/apple), but not run.

#if canImport(SwiftUI)
public import CurlewCore
public import CurlewFoundation
public import CurlewTransfers
import ImageIO
public import SwiftUI

/// A view that loads an image from a URL and shows it. The client applies its cache and its limits, and sends its
/// credentials only to its own origin.
///
///     RemoteImage(url: question.owner.avatar, client: client)
///
/// Images are decoded off the main actor. The view can be used in reused cells: a new URL cancels the load from the
/// previous URL, and the previous image is never shown for the new URL. The placeholder stays if the load fails, if the
/// data is not an image, and for an image of more than `ImageData.defaultPixelLimit` pixels.
@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
public struct RemoteImage: View {
    private enum Origin: Hashable {
        case url(String)
        case bytes(Data?)
    }

    private let origin: @MainActor () -> Origin
    private let load: @MainActor () async -> Void
    private let data: @MainActor () async -> ImageData?
    @State private var shown: (origin: Origin, image: Image)?

    /// Creates a view that shows the image at `url`. `client` loads the image when the view appears or `url` changes.
    public init(url: String, client: APIClient) {
        origin = { .url(url) }
        load = {}
        data = { try? await client.send(.image(url: url)) }
    }

    /// Creates a view that shows the image whose data a model loads, such as `RemoteImage(model.avatar)`. The load
    /// begins when the view appears, unless the data has been loaded or its last load has failed.
    public init(_ image: Loadable<Data>) {
        origin = { .bytes(image.value) }
        load = { await image.appeared() }
        data = { image.value.flatMap { try? ImageData($0) } }
    }

    /// Creates a view that shows the image that a model loads with `.image(url:)`. The load begins when the view
    /// appears, unless the image has been loaded or its last load has failed.
    public init(_ image: Loadable<ImageData>) {
        origin = { .bytes(image.value?.bytes) }
        load = { await image.appeared() }
        data = { image.value }
    }

    /// The image, resizable, or a grey placeholder while there is none.
    public var body: some View {
        let origin = origin()
        // The tasks apply to the stack. In a group, they would apply to each view that appears and disappears.
        ZStack {
            if let shown, shown.origin == origin { shown.image.resizable() } else { Color.secondary.opacity(0.15) }
        }
        .task { await load() }
        .task(id: origin) {
            guard shown?.origin != origin, let data = await data() else { return }
            guard let image = await Image.decoded(data), !Task.isCancelled else { return }
            shown = (origin, image)
        }
    }
}

@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
extension Image {
    /// Creates a SwiftUI image, with the rotation in the metadata of the file applied. Decodes on the calling thread,
    /// which takes tens of milliseconds for a photograph. Returns nil if the platform cannot decode the image.
    public init?(_ data: ImageData) {
        let options = [
            kCGImageSourceCreateThumbnailFromImageAlways as String: true,
            kCGImageSourceCreateThumbnailWithTransform as String: true,
            kCGImageSourceShouldCacheImmediately as String: true,
        ]
        guard let file = CGImageSourceCreateWithData(data.bytes as CFData, nil),
            let image = CGImageSourceCreateThumbnailAtIndex(file, 0, options as CFDictionary)
        else { return nil }
        self.init(decorative: image, scale: 1)
    }

    /// Decodes off the main actor.
    @concurrent
    fileprivate static func decoded(_ data: ImageData) async -> Image? { Image(data) }
}
#endif
