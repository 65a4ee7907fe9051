/// Who signs a call in a layer further down, where its header fields do not tell yet.
///
/// Layers that share a response between calls ask: a response belongs to the user that it was
/// asked for.
package struct CallSigner: Sendable {
    /// Whose credentials a call made now would get, or nil if nobody can tell.
    package let identity: @Sendable () -> String?

    package init(_ identity: @escaping @Sendable () -> String?) {
        self.identity = identity
    }
}

extension HTTPCallOptions {
    private enum SignerKey: HTTPCallOptionKey {
        static var defaultValue: CallSigner? { nil }
    }

    /// Who signs the call, set where a client is authorized.
    package var signer: CallSigner? {
        get { self[SignerKey.self] }
        set { self[SignerKey.self] = newValue }
    }
}
