// SPDX-License-Identifier: MIT

package import CurlewCore

/// An interceptor that attaches a credential, once per request on the wire. It decides with `CredentialScope` which
/// origins receive the credential.
package protocol CredentialInterceptor: ValidatingInterceptor, ScopedInterceptor {}

extension CredentialInterceptor {
    /// The placement `.authentication`: before the request is signed.
    package var placement: Placement { .authentication }
}
