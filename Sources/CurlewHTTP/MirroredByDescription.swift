// SPDX-License-Identifier: MIT

/// A type whose dump shows its description and none of its members, which may be secret.
package protocol MirroredByDescription: CustomStringConvertible, CustomReflectable {}

extension MirroredByDescription {
    /// A mirror that shows only the description.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
