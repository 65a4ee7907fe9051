/// The public keys that the servers of a client may have.
///
/// A pin is the SHA-256 digest of a certificate's SubjectPublicKeyInfo (RFC 7469 section 2.4). After the usual
/// validation, the key of the server's own certificate is compared with the pins, before the first byte of a request is
/// sent.
///
/// Include a backup pin of a key that is not yet in use: without it, a lost key locks out every installed app.
public struct PublicKeyPins: Sendable {
    /// One pin.
    public struct Pin: Sendable, Hashable {
        /// The 32 bytes of the digest.
        public let digest: [UInt8]

        /// Creates a pin; nil unless `digest` has 32 bytes.
        public init?(digest: some Sequence<UInt8>) {
            self.digest = Array(digest)
            guard self.digest.count == 32 else { return nil }
        }
    }

    /// The consequence of a mismatch.
    public enum Mode: Sendable, Hashable {
        /// The call fails with ``TransportError/Code/tlsPinMismatch`` and nothing is sent.
        case enforce
        /// The mismatch is only reported.
        case audit
    }

    /// A server key that matches no pin.
    public struct Mismatch: Sendable, Hashable {
        /// The requested host.
        public var host: String
        /// The digest of the server's key.
        public var digest: [UInt8]

        /// Creates a report.
        public init(host: String, digest: [UInt8]) {
            self.host = host
            self.digest = digest
        }
    }

    /// The pins of each host; names are converted to lowercase, and the pins of equal names combined.
    ///
    /// `*.example.org` matches the hosts directly below `example.org` that have no entry of their own. Hosts without
    /// pins are not checked.
    public var hosts: [String: Set<Pin>] {
        didSet { hosts = Self.lowercased(hosts) }
    }

    /// The consequence of a mismatch.
    public var mode: Mode

    /// A closure that receives every mismatch, in both modes; it must return quickly.
    public var onMismatch: @Sendable (Mismatch) -> Void

    /// Creates a set of pins.
    public init(
        _ hosts: [String: Set<Pin>],
        mode: Mode = .enforce,
        onMismatch: @escaping @Sendable (Mismatch) -> Void = { _ in }
    ) {
        self.hosts = Self.lowercased(hosts)
        self.mode = mode
        self.onMismatch = onMismatch
    }

    private static func lowercased(_ hosts: [String: Set<Pin>]) -> [String: Set<Pin>] {
        Dictionary(
            hosts.map { ($0.key.lowercased(), $0.value) },
            uniquingKeysWith: { $0.union($1) }
        )
    }

    /// Returns the pins of a host, or nil if it has none.
    public func pins(for host: String) -> Set<Pin>? {
        let host = host.lowercased()
        if let pins = hosts[host] { return pins }
        guard let dot = host.firstIndex(of: ".") else { return nil }
        return hosts["*" + host[dot...]]
    }

    /// Returns whether the call may continue with a server's key, given the SHA-256 digest of the key, or nil without a
    /// key; called by transports.
    ///
    /// A mismatch is reported to ``onMismatch``.
    public func allows(_ digest: [UInt8]?, for host: String) -> Bool {
        guard let pins = pins(for: host) else { return true }
        if let pin = digest.flatMap({ Pin(digest: $0) }), pins.contains(pin) { return true }
        onMismatch(Mismatch(host: host, digest: digest ?? []))
        return mode == .audit
    }
}

extension HTTPCallOptions {
    private enum PinsKey: HTTPCallOptionKey {
        static var defaultValue: PublicKeyPins? { nil }
        static func sharingKey(of pins: PublicKeyPins?) -> AnyHashable? {
            // The recipient of reports does not affect the response.
            AnyHashable([pins.map { AnyHashable($0.hosts) }, pins.map { AnyHashable($0.mode) }])
        }
    }

    /// The pins for the call's connection, which ``NetworkClient/Configuration/pins`` replace.
    ///
    /// A transport that declares ``HTTPTransportFeatures/pinning`` enforces them.
    public var pins: PublicKeyPins? {
        get { self[PinsKey.self] }
        set { self[PinsKey.self] = newValue }
    }
}
