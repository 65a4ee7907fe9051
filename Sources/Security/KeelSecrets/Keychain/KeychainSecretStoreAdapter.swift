#if canImport(Security)
internal import Foundation
internal import Security

/// An adapter for Apple's Keychain, which stores generic passwords with a service and an account.
///
/// The adapter uses the data protection keychain, which on macOS requires a signed app. To move items to another
/// accessibility or access group, use `SecretStore.migrate(to:)` with a second adapter and another service.
///
/// Comparing and setting is atomic for the users of one adapter. Adapters of the same items, also in several processes,
/// never both add a missing secret, or both remove a present one. The keychain cannot compare bytes as it changes them,
/// so if two adapters replace the same bytes at the same moment, both calls can return true, and the last one wins.
public actor KeychainSecretStoreAdapter: SecretStoreAdapter {
    /// The times when a secret can be read, and the devices it is on.
    public struct Accessibility: Hashable, Sendable {
        let name: String
        let isOnThisDeviceOnly: Bool

        /// Readable while the device is unlocked; moves to a new device with an encrypted backup.
        public static let whenUnlocked = Self(
            name: kSecAttrAccessibleWhenUnlocked as String,
            isOnThisDeviceOnly: false
        )
        /// Readable once the device has been unlocked after a restart; moves to a new device with an encrypted backup.
        public static let afterFirstUnlock = Self(
            name: kSecAttrAccessibleAfterFirstUnlock as String,
            isOnThisDeviceOnly: false
        )
        /// Readable while the device is unlocked, on this device only.
        public static let whenUnlockedThisDeviceOnly = Self(
            name: kSecAttrAccessibleWhenUnlockedThisDeviceOnly as String,
            isOnThisDeviceOnly: true
        )
        /// Readable once the device has been unlocked after a restart, on this device only.
        public static let afterFirstUnlockThisDeviceOnly = Self(
            name: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly as String,
            isOnThisDeviceOnly: true
        )
    }

    private let accessibility: Accessibility
    private let accessGroup: String?
    private let isSynchronized: Bool

    /// Creates an adapter.
    ///
    /// - Parameters:
    ///   - accessibility: The times when the secrets can be read. The default is after the first unlock: on this device
    ///     only, or on all of the user's devices if the secrets are synchronized. Secrets limited to this device do not
    ///     move to a new one: users sign in again, and data encrypted with a key from this store is lost. Use
    ///     `afterFirstUnlock` if secrets have to move along.
    ///   - accessGroup: The group of apps that share the secrets; nil is the app's first group.
    ///   - isSynchronized: Whether iCloud Keychain copies the secrets to the user's other devices.
    /// - Throws: ``SecretError`` with the code `invalidArgument` if synchronized secrets are restricted to this device.
    public init(
        accessibility: Accessibility? = nil,
        accessGroup: String? = nil,
        isSynchronized: Bool = false
    ) throws(SecretError) {
        let accessibility =
            accessibility ?? (isSynchronized ? .afterFirstUnlock : .afterFirstUnlockThisDeviceOnly)
        guard !(isSynchronized && accessibility.isOnThisDeviceOnly) else {
            throw SecretError(
                .invalidArgument,
                "Secrets limited to this device cannot be synchronized."
            )
        }
        self.accessibility = accessibility
        self.accessGroup = accessGroup
        self.isSynchronized = isSynchronized
    }

    public func capabilities() async -> SecretStoreCapabilities {
        var features: SecretStoreCapabilities.Features = [.writable, .persistent]
        #if !os(macOS) && !targetEnvironment(simulator)
        // Every such device has a Secure Enclave, but not every Mac.
        features.insert(.hardware)
        #endif
        if isSynchronized { features.insert(.syncs) }
        var capabilities = SecretStoreCapabilities(kind: .keychain, features: features)
        do throws(SecretError) {
            _ = try items(query([kSecAttrService: "keel.probe"]))
        } catch {
            capabilities.problem = error.code
            if error.code == .locked { capabilities.features.insert(.locked) }
        }
        return capabilities
    }

    public func read(_ name: SecretName) async throws(SecretError) -> [UInt8]? {
        try stored(name)
    }

    public func replace(
        _ name: SecretName,
        with bytes: [UInt8]?,
        expecting expectation: SecretExpectation
    ) async throws(SecretError) -> Bool {
        // There is no suspension point in this method, so no other call of this actor can interleave.
        if expectation != .anything {
            guard expectation.holds(for: try stored(name)) else { return false }
        }
        guard let bytes else {
            // Another adapter may have added the item since it was compared.
            guard expectation != .absent else { return true }
            let status = SecItemDelete(query(item(name)) as CFDictionary)
            if status == errSecItemNotFound { return expectation.holds(for: nil) }
            guard status == errSecSuccess else {
                throw SecretError(keychain: status, otherwise: .deleteFailed)
            }
            return true
        }
        let values: [CFString: Any] = [
            kSecValueData: Data(bytes), kSecAttrAccessible: accessibility.name,
        ]
        // Another adapter may have added or removed the item since it was compared.
        var status = errSecDuplicateItem
        if expectation.holds(for: nil) {
            let added = query(item(name)).merging(values) { $1 }
            status = SecItemAdd(added as CFDictionary, nil)
            if status == errSecDuplicateItem, expectation == .absent { return false }
        }
        if status == errSecDuplicateItem {
            status = SecItemUpdate(query(item(name)) as CFDictionary, values as CFDictionary)
            if status == errSecItemNotFound, !expectation.holds(for: nil) { return false }
        }
        guard status == errSecSuccess else {
            throw SecretError(keychain: status, otherwise: .saveFailed)
        }
        return true
    }

    public func accounts(of service: String) async throws(SecretError) -> [String] {
        try items(query([kSecAttrService: service])).compactMap {
            $0[kSecAttrAccount as String] as? String
        }
    }

    // MARK: Queries

    private func stored(_ name: SecretName) throws(SecretError) -> [UInt8]? {
        var result: CFTypeRef?
        let wanted: [CFString: Any] = [kSecReturnData: true, kSecMatchLimit: kSecMatchLimitOne]
        let status = SecItemCopyMatching(
            query(item(name)).merging(wanted) { $1 } as CFDictionary,
            &result
        )
        if status == errSecItemNotFound { return nil }
        guard status == errSecSuccess else {
            throw SecretError(keychain: status, otherwise: .loadFailed)
        }
        guard let data = result as? Data else {
            throw SecretError(.invalidData, "The keychain returned no data for the item.")
        }
        return Array(data)
    }

    private func items(_ query: [CFString: Any]) throws(SecretError) -> [[String: Any]] {
        var result: CFTypeRef?
        let wanted: [CFString: Any] = [
            kSecReturnAttributes: true, kSecMatchLimit: kSecMatchLimitAll,
        ]
        let status = SecItemCopyMatching(query.merging(wanted) { $1 } as CFDictionary, &result)
        if status == errSecItemNotFound { return [] }
        guard status == errSecSuccess else {
            throw SecretError(keychain: status, otherwise: .loadFailed)
        }
        return result as? [[String: Any]] ?? []
    }

    private func item(_ name: SecretName) -> [CFString: Any] {
        [kSecAttrService: name.service, kSecAttrAccount: name.account]
    }

    private func query(_ attributes: [CFString: Any]) -> [CFString: Any] {
        var query = attributes
        query[kSecClass] = kSecClassGenericPassword
        query[kSecUseDataProtectionKeychain] = true
        query[kSecAttrSynchronizable] = isSynchronized
        query[kSecAttrAccessGroup] = accessGroup
        return query
    }
}

extension SecretError {
    fileprivate init(keychain status: OSStatus, otherwise code: Code) {
        let cause = SecretStoreStatus(domain: "OSStatus", number: Int(status))
        switch status {
        case errSecInteractionNotAllowed:
            self.init(.locked, "The keychain is locked.", cause: cause)
        case errSecMissingEntitlement:
            self.init(
                .permissionDenied,
                "The app has no keychain entitlement; unsigned programs have none.",
                cause: cause
            )
        case errSecNotAvailable:
            self.init(.unavailable, "No keychain is available.", cause: cause)
        case errSecUserCanceled:
            self.init(.cancelled, "The user canceled the request.", cause: cause)
        default:
            self.init(code, "The keychain rejected the call.", cause: cause)
        }
    }
}
#endif
