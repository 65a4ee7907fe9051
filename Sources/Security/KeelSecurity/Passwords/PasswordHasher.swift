#if Crypto
internal import Crypto
internal import KeelArgon2
public import KeelCore
internal import _CryptoExtras

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A hasher that turns passwords into hashes that are slow to guess, and verifies them.
///
/// ```swift
/// let passwords = PasswordHasher()
/// user.hash = try await passwords.hash(password)
/// guard try await passwords.verify(password, against: user.hash) else { return }
/// if passwords.needsRehash(user.hash) { user.hash = try await passwords.hash(password) }
/// ```
///
/// The hash is Argon2id as a PHC string, `$argon2id$v=19$m=19456,t=2,p=1$…$…`, which libraries of other languages read.
/// Hashes made with scrypt or with Argon2's other variants are verified as well. Passwords are hashed as UTF-8, without
/// normalization.
public struct PasswordHasher: Sendable {
    private static let saltCount = 16
    private static let hashCount = 32

    /// The cost of new hashes.
    public let cost: Argon2Cost

    /// Creates a hasher.
    ///
    /// - Parameter cost: The cost of new hashes. Raise it until a sign-in takes as long as your users accept.
    public init(cost: Argon2Cost = Argon2Cost()) { self.cost = cost }

    /// Returns the hash of a password, with a new random salt.
    ///
    /// - Returns: A PHC string of ASCII characters.
    /// - Throws: `invalidArgument` if the cost exceeds 1 GiB, 1024 passes or 64 lanes, or gives a lane less than 8 KiB;
    ///   `randomGenerationFailed`.
    @concurrent
    public func hash(_ password: String) async throws(SecurityError) -> String {
        guard cost.isSound else {
            throw SecurityError(.invalidArgument, "the cost of the hash is out of bounds")
        }
        let random = try SecurityService().generateSecureRandomBytes(count: Self.saltCount)
        let salt = [UInt8](random)
        let hash = Argon2(cost: cost, count: Self.hashCount)
            .hash(Array(password.utf8), salt: salt)
        return PHCString(
            function: Argon2.Variant.id.name,
            version: 0x13,
            parameters: [("m", cost.memory), ("t", cost.passes), ("p", cost.lanes)],
            salt: salt,
            hash: hash
        ).text
    }

    /// Returns whether a password matches a hash.
    ///
    /// - Parameters:
    ///   - password: The password to check.
    ///   - hash: The result of ``hash(_:)``, or a PHC string of Argon2 version 19 (1.3) or scrypt.
    /// - Returns: False for another password.
    /// - Throws: `invalidHash` for a text that is not such a hash, or one whose cost is out of bounds.
    @concurrent
    public func verify(
        _ password: String,
        against hash: String
    ) async throws(SecurityError) -> Bool {
        guard let form = PHCString(hash), (8...64).contains(form.salt.count),
            (12...128).contains(form.hash.count)
        else { throw Self.invalid }
        let computed: [UInt8]
        if form.function == "scrypt" {
            computed = try Self.scrypt(password, form)
        } else {
            let (variant, cost) = try Self.argon2Cost(form)
            computed = Argon2(variant, cost: cost, count: form.hash.count)
                .hash(Array(password.utf8), salt: form.salt)
        }
        return ConstantTime.isEqual(computed, form.hash)
    }

    /// Returns whether a hash differs in function or cost from those that this hasher creates, is shorter, or is no
    /// hash.
    public func needsRehash(_ hash: String) -> Bool {
        guard let form = PHCString(hash), let (variant, cost) = try? Self.argon2Cost(form) else {
            return true
        }
        return variant != .id || cost != self.cost || form.salt.count < Self.saltCount
            || form.hash.count < Self.hashCount
    }

    private static let invalid = SecurityError(
        .invalidHash,
        "the text is not an Argon2 or scrypt password hash within the allowed cost"
    )

    private static func argon2Cost(
        _ form: PHCString
    ) throws(SecurityError) -> (Argon2.Variant, Argon2Cost) {
        guard let variant = Argon2.Variant.allCases.first(where: { $0.name == form.function }),
            form.version == 0x13, let values = form.values("m", "t", "p")
        else { throw invalid }
        let cost = Argon2Cost(memory: values[0], passes: values[1], lanes: values[2])
        guard cost.isSound else { throw invalid }
        return (variant, cost)
    }

    private static func scrypt(
        _ password: String,
        _ form: PHCString
    ) throws(SecurityError) -> [UInt8] {
        guard form.version == nil, let values = form.values("ln", "r", "p"),
            (1...24).contains(values[0]), (1...64).contains(values[1]),
            (1...64).contains(values[2]), values[1] << values[0] <= 1 << 23
        else { throw invalid }
        do {
            return try KDF.Scrypt.deriveKey(
                from: Array(password.utf8),
                salt: form.salt,
                outputByteCount: form.hash.count,
                rounds: 1 << values[0],
                blockSize: values[1],
                parallelism: values[2]
            ).withUnsafeBytes { Array($0) }
        } catch {
            throw invalid
        }
    }
}
#endif
