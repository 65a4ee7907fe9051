/// The identity that a lower layer will sign a call with, before a header field shows it.
///
/// Layers that share a response between calls need it: a response belongs to the user who requested it.
package struct CallSigner: Sendable {
    /// A closure that returns the identity whose credentials a call would get now; nil if it cannot be determined.
    package let identity: @Sendable () async -> String?

    package init(_ identity: @escaping @Sendable () async -> String?) {
        self.identity = identity
    }

    /// Creates the signer of the calls that pass these layers; nil if none of the layers signs calls.
    init?(_ layers: [any HTTPMiddleware]) {
        let signing = layers.compactMap { $0 as? any HTTPAuthorizing }
        guard let first = signing.first else { return nil }
        guard signing.count > 1 else {
            self.init { await first.identity }
            return
        }
        self.init {
            var names: [String] = []
            for layer in signing {
                guard let name = await layer.identity else { return nil }
                names.append(name)
            }
            return names.map { "\($0.utf8.count):\($0)" }.joined()
        }
    }
}

extension HTTPCallOptions {
    private enum SignerKey: HTTPCallOptionKey {
        static var defaultValue: CallSigner? { nil }
        // Layers that share responses ask the signer itself.
        static func sharingKey(of signer: CallSigner?) -> AnyHashable? { 0 }
    }

    /// The signer of the call, set by the client.
    package var signer: CallSigner? {
        get { self[SignerKey.self] }
        set { self[SignerKey.self] = newValue }
    }
}
