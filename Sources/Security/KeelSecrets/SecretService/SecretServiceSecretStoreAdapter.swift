#if os(Linux)
internal import KeelCore

/// An adapter for the Secret Service of a Linux desktop: GNOME Keyring, KWallet or KeePassXC.
///
/// A secret is an item with the attributes `service` and `account`, as written by `secret-tool store service … account
/// …`: the user's other programs read and write the same secrets. New items are in the default collection. libsecret is
/// loaded when the adapter is created, and not needed to build.
///
/// A locked default collection is an error; the adapter never prompts. Comparing and setting is atomic for the tasks of
/// this process only.
public struct SecretServiceSecretStoreAdapter: SecretStoreAdapter {
    private let library: Result<LibSecret, SecretError>
    private let deadline: Duration
    private let timer: DeadlineTimer

    /// Creates an adapter; the first call shows whether the service is usable.
    ///
    /// A call that the service does not answer within `deadline` throws `timeout`; a change may have taken effect.
    public init(
        deadline: Duration = .seconds(10),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.init(library: "libsecret-1.so.0", deadline: deadline, clock: clock)
    }

    package init(
        library name: String,
        deadline: Duration = .seconds(10),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        do throws(SecretError) {
            library = .success(try LibSecret(name))
        } catch {
            library = .failure(error)
        }
        self.deadline = deadline
        timer = .on(clock)
    }

    public func capabilities() async -> SecretStoreCapabilities {
        var capabilities = SecretStoreCapabilities(
            kind: .secretService,
            features: [.writable, .persistent]
        )
        do throws(SecretError) {
            try await call { session throws(SecretError) in try session.probe() }
        } catch {
            capabilities.problem = error.code
            if error.code == .locked { capabilities.features.insert(.locked) }
        }
        return capabilities
    }

    public func read(_ name: SecretName) async throws(SecretError) -> [UInt8]? {
        try await call { session throws(SecretError) in try session.read(name) }
    }

    public func replace(
        _ name: SecretName,
        with bytes: [UInt8]?,
        expecting expectation: SecretExpectation
    ) async throws(SecretError) -> Bool {
        try await call { session throws(SecretError) in
            try session.replace(name, with: bytes, expecting: expectation)
        }
    }

    public func accounts(of service: String) async throws(SecretError) -> [String] {
        try await call { session throws(SecretError) in try session.accounts(of: service) }
    }

    private func call<Value: Sendable>(
        _ body: @escaping @Sendable (SecretServiceSession) throws(SecretError) -> Value
    ) async throws(SecretError) -> Value {
        try await SecretServiceWorker.run(try library.get(), deadline: deadline, on: timer, body)
    }
}
#endif
