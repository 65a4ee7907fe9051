import KeelConformance
import KeelSecrets
import KeelTestKit
import KeelTestSupport

/// An adapter that breaks one promise.
struct BrokenSecretStoreAdapter: SecretStoreAdapter {
    enum Fault: String, CaseIterable, Sendable {
        case forgetsWrites = "forgets what is saved"
        case keepsFirst = "never replaces"
        case ignoresExpectations = "ignores what is expected"
        case alwaysSucceeds = "says that every expectation held"
        case comparesInTwoSteps = "compares in one step and sets in another"
        case mixesServices = "mixes services"
        case listsAllServices = "lists the keys of all services"
        case losesEmpty = "takes an empty secret for none"
        case stopsAtZero = "cuts a secret off at a zero byte"
        case keepsText = "keeps bytes as text"
        case foldsCase = "takes upper and lower case for the same"
        case trimsKeys = "cuts spaces off keys"
        case cutsLong = "cuts off what is longer than 4,096 bytes"
        case neverDeletes = "never deletes"
        case deletesAll = "deletes all of a service"
        case failsOnMissing = "fails to delete what is not there"
        case claimsLocked = "says that it is locked"
        case tellsSecrets = "tells its secrets when it is dumped"
        case tellsBytes = "tells the bytes of its secrets when it is dumped"

        /// The group of checks that must detect the fault.
        var group: SecretStoreCheck.Group {
            switch self {
            case .forgetsWrites: .writing
            case .keepsFirst: .writing
            case .ignoresExpectations, .alwaysSucceeds: .comparison
            case .comparesInTwoSteps: .concurrency
            case .mixesServices, .listsAllServices: .isolation
            case .losesEmpty, .stopsAtZero, .keepsText, .cutsLong: .bytes
            case .foldsCase, .trimsKeys: .names
            case .neverDeletes, .deletesAll, .failsOnMissing: .removal
            case .claimsLocked, .tellsSecrets, .tellsBytes: .capabilities
            }
        }
    }

    let fault: Fault
    private let memory = InMemorySecretStoreAdapter()
    private let told = Told()
    private let comparisons = Meeting()

    /// The content of a dump.
    private final class Told: @unchecked Sendable {
        // Unsynchronized, because the only check that uses it makes no concurrent calls.
        var text = ""
        var bytes: [UInt8] = []
    }

    /// A barrier that holds the first caller until a second one arrives, so that both compare before either sets.
    private final class Meeting: Sendable {
        private let calls = Counter()

        func meet() async {
            if calls.next() == 1 { try? await waitUntil { calls.count > 1 } }
        }
    }

    init(_ fault: Fault) { self.fault = fault }

    func capabilities() async -> SecretStoreCapabilities {
        var capabilities = await memory.capabilities()
        if fault == .claimsLocked { capabilities.features.insert(.locked) }
        return capabilities
    }

    func read(_ name: SecretName) async throws(SecretError) -> [UInt8]? {
        let bytes = try await memory.read(changed(name))
        if fault == .losesEmpty, bytes?.isEmpty == true { return nil }
        return bytes
    }

    func replace(
        _ name: SecretName,
        with bytes: [UInt8]?,
        expecting expectation: SecretExpectation
    ) async throws(SecretError) -> Bool {
        let name = changed(name)
        if fault == .tellsSecrets, let bytes { told.text = String(decoding: bytes, as: UTF8.self) }
        if fault == .tellsBytes, let bytes { told.bytes = bytes }
        switch fault {
        case .forgetsWrites where bytes != nil: return true
        case .keepsFirst where bytes != nil:
            guard try await memory.read(name) == nil else { return true }
        case .ignoresExpectations:
            return try await memory.replace(name, with: bytes, expecting: .anything)
        case .alwaysSucceeds:
            _ = try await memory.replace(name, with: bytes, expecting: expectation)
            return true
        case .comparesInTwoSteps:
            guard expectation.holds(for: try await memory.read(name)) else { return false }
            if expectation != .anything { await comparisons.meet() }
            return try await memory.replace(name, with: bytes, expecting: .anything)
        case .neverDeletes where bytes == nil: return true
        case .deletesAll where bytes == nil:
            for account in try await memory.accounts(of: name.service) {
                let other = SecretName(service: name.service, account: account)
                _ = try await memory.replace(other, with: nil, expecting: .anything)
            }
            return true
        case .failsOnMissing where bytes == nil:
            guard try await memory.read(name) != nil else {
                throw SecretError(.deleteFailed, "It is not there.")
            }
        default: break
        }
        return try await memory.replace(name, with: bytes.map(changed), expecting: expectation)
    }

    func accounts(of service: String) async throws(SecretError) -> [String] {
        let service = changed(SecretName(service: service, account: "")).service
        var accounts = try await memory.accounts(of: service)
        if fault == .listsAllServices {
            accounts += try await memory.accounts(of: service + ".other")
        }
        return accounts
    }

    private func changed(_ name: SecretName) -> SecretName {
        switch fault {
        case .mixesServices: SecretName(service: "one", account: name.account)
        case .foldsCase: SecretName(service: name.service, account: name.account.lowercased())
        case .trimsKeys:
            SecretName(service: name.service, account: String(name.account.drop { $0 == " " }))
        default: name
        }
    }

    private func changed(_ bytes: [UInt8]) -> [UInt8] {
        switch fault {
        case .stopsAtZero: Array(bytes.prefix { $0 != 0 })
        case .keepsText: Array(String(decoding: bytes, as: UTF8.self).utf8)
        case .cutsLong: Array(bytes.prefix(4_096))
        default: bytes
        }
    }
}
