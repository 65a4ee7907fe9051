import HTTPTypes

/// The identity that a lower layer will sign a call with.
///
/// Layers that share responses between calls need it, because a response belongs to the user who requested it.
package struct CallSigner: Sendable {
    private let layers: [any HTTPAuthorizing]

    /// Nil if none of the layers signs calls.
    init?(_ layers: [any HTTPMiddleware]) {
        self.init(signing: layers.compactMap { $0 as? any HTTPAuthorizing })
    }

    private init?(signing layers: [any HTTPAuthorizing]) {
        guard !layers.isEmpty else { return nil }
        self.layers = layers
    }

    /// The signer of the layers that may add an `Authorization` field.
    package var ofAuthorization: CallSigner? {
        CallSigner(signing: layers.filter { $0.addsAuthorization })
    }

    /// Returns the signer of the layers that may add an `Authorization` field to calls to an origin.
    package func ofAuthorization(at origin: HTTPOrigin) -> CallSigner? {
        CallSigner(
            signing: layers.filter { layer in
                layer.addsAuthorization && (layer as? any OriginAuthorizing)?.signs(origin) ?? true
            }
        )
    }

    /// The signer of the layers that add credentials even to calls that are not signed or have an `Authorization` field
    /// of their own.
    fileprivate var ofUnsignedCalls: CallSigner? {
        CallSigner(signing: layers.filter { !$0.addsAuthorization })
    }

    package var addsAuthorization: Bool { layers.contains { $0.addsAuthorization } }

    /// Whether one of the layers adds only other credentials, such as cookies.
    package var addsCookies: Bool { layers.contains { !$0.addsAuthorization } }

    /// Returns the identity whose credentials a call would get now; nil if it cannot be determined.
    package func identity() async -> String? {
        guard layers.count > 1 else { return await layers.first?.identity }
        var names: [String] = []
        for layer in layers {
            guard let name = await layer.identity else { return nil }
            names.append(name)
        }
        return names.map { "\($0.utf8.count):\($0)" }.joined()
    }

    /// Returns whether a call was sent only for users whose credentials it would get now.
    ///
    /// An equal identity before and after the call does not show that: the user may have changed twice.
    package func stillSigns(for pin: SessionPin?) async -> Bool {
        var identities = pin?.identities ?? []
        for layer in layers where !identities.isEmpty {
            if let identity = await layer.identity { identities.remove(identity) }
        }
        return identities.isEmpty
    }
}

/// A layer that adds an `Authorization` field only to calls to certain origins.
package protocol OriginAuthorizing: HTTPAuthorizing {
    func signs(_ origin: HTTPOrigin) -> Bool
}

extension HTTPCallOptions {
    private enum SignerKey: HTTPCallOptionKey {
        static var defaultValue: CallSigner? { nil }
        // Layers that share responses ask the signer itself.
        static func sharingKey(of signer: CallSigner?) -> AnyHashable? { 0 }
    }

    /// Set by the client.
    package var signer: CallSigner? {
        get { self[SignerKey.self] }
        set { self[SignerKey.self] = newValue }
    }
}

extension HTTPCall {
    /// The signer of the layers that add credentials to the call.
    ///
    /// A call that is not signed, or that has an `Authorization` field of its own, still gets cookies.
    package var actingSigner: CallSigner? {
        options.authentication == .none || head.headerFields[.authorization] != nil
            ? options.signer?.ofUnsignedCalls : options.signer
    }
}
