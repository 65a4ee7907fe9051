import Crypto
import Foundation
import KeelCore
import KeelSecurity

/// Encryption and hashes, compared with swift-crypto, Tink, age and libargon2.
///
/// Documentation/Benchmarks.md has the targets.
enum SecurityGroup {
    @concurrent
    static func measures(_ options: Options) async throws -> [Measure] {
        let files = Lazily { try StreamFiles(options) }
        return [
            seal(64, .info, options),
            seal(4096, .atMost(1.1), options),
            seal(1 << 20, .atMost(1.1), options),
            open(4096, .atMost(1.1), options),
            streamTink(files),
            streamAge(files),
            memory(options),
            argon2(options),
        ]
    }

    // MARK: Values

    private static func seal(_ size: Int, _ target: Target, _ options: Options) -> Measure {
        let plain = Data(repeating: 0x41, count: size)
        let place = Data("notes/1".utf8)
        let count = calls(size, options)
        return Measure(
            name: "seal \(text(size)) / swift-crypto",
            target: target,
            keel: {
                let service = SecurityService(keyset: try Keyset.make(.aes256GCM))
                return try Timing.perCall(count) { _ in
                    _ = try service.encrypt(plain, associatedData: place)
                }
            },
            peer: {
                let key = SymmetricKey(size: .bits256)
                return try Timing.perCall(count) { _ in
                    let box = try AES.GCM.seal(plain, using: key, authenticating: place)
                    guard box.combined != nil else { throw Flaw("Nothing was sealed.") }
                }
            }
        )
    }

    private static func open(_ size: Int, _ target: Target, _ options: Options) -> Measure {
        let plain = Data(repeating: 0x41, count: size)
        let place = Data("notes/1".utf8)
        let count = calls(size, options)
        return Measure(
            name: "open \(text(size)) / swift-crypto",
            target: target,
            keel: {
                let service = SecurityService(keyset: try Keyset.make(.aes256GCM))
                let sealed = try service.encrypt(plain, associatedData: place)
                return try Timing.perCall(count) { _ in
                    _ = try service.decrypt(sealed, associatedData: place)
                }
            },
            peer: {
                let key = SymmetricKey(size: .bits256)
                let sealed = try AES.GCM.seal(plain, using: key, authenticating: place).combined
                guard let sealed else { throw Flaw("Nothing was sealed.") }
                return try Timing.perCall(count) { _ in
                    let box = try AES.GCM.SealedBox(combined: sealed)
                    _ = try AES.GCM.open(box, using: key, authenticating: place)
                }
            }
        )
    }

    private static func calls(_ size: Int, _ options: Options) -> Int {
        options.scaled(max(200, min(200_000, (256 << 20) / max(size, 1024))))
    }

    private static func text(_ size: Int) -> String {
        size >= 1 << 20 ? "\(size >> 20) MiB" : size >= 1024 ? "\(size >> 10) KiB" : "\(size) bytes"
    }

    // MARK: Streams

    private static func streamTink(_ files: Lazily<StreamFiles>) -> Measure {
        Measure(
            name: "encrypt a file / Tink's streams in Python",
            unit: "MiB/s",
            target: .partAtLeast(0.8),
            keel: {
                try python.interpreter()
                return try await files.value().keel()
            },
            peer: { try await files.value().tink() }
        )
    }

    private static func streamAge(_ files: Lazily<StreamFiles>) -> Measure {
        Measure(
            name: "encrypt a file / age",
            unit: "MiB/s",
            target: .partAtLeast(0.8),
            keel: {
                _ = try await files.value().age()
                return try await files.value().keel()
            },
            peer: { try await files.value().age() }
        )
    }

    /// Measures the memory growth of a process that encrypts a long stream, and of one with a short stream.
    private static func memory(_ options: Options) -> Measure {
        let (long, short) = options.isQuick ? (32, 16) : (10 << 10, 16)
        @Sendable @concurrent func growth(_ mebibytes: Int) async throws -> Double {
            let call = StreamWork.call(mebibytes)
            return try await ProgramRun(call.program, call.arguments).number()
        }
        return Measure(
            name: "memory for a stream of 10 GiB / of 16 MiB",
            unit: "MiB",
            target: .keelAtMost(8),
            maximumRounds: 3,
            keel: { try await growth(long) },
            peer: { try await growth(short) }
        )
    }

    // MARK: Passwords

    private static func argon2(_ options: Options) -> Measure {
        let cost = options.isQuick ? Argon2Cost(memory: 64) : Argon2Cost()
        let count = options.isQuick ? 1 : 10
        return Measure(
            name: "Argon2id at the usual cost / libargon2",
            unit: "ms",
            target: .atMost(1.5),
            keel: {
                try python.interpreter()
                let hasher = PasswordHasher(cost: cost)
                let microseconds = try await Timing.perCall(count) { _ in
                    _ = try await hasher.hash("correct horse battery staple")
                }
                return microseconds / 1000
            },
            peer: {
                let arguments = ["argon2", cost.memory, cost.passes, cost.lanes, count] as [Any]
                return try await python.number(arguments.map { "\($0)" })
            }
        )
    }

    // MARK: Peers

    /// The script with the peers.
    static let python = PythonScript(
        "security-peer.py",
        with: "the packages 'tink' and 'argon2-cffi'"
    )
}
