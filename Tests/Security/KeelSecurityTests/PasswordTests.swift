#if Crypto
import Foundation
import KeelCore
import KeelTestKit
import KeelTestSupport
import Testing

@testable import KeelSecurity

@Suite("Passwords")
struct PasswordTests {
    private let small = PasswordHasher(cost: .init(memory: 64, passes: 2, lanes: 1))

    @Test("A hash verifies only its password and has its own salt")
    func roundTrip() async throws {
        let hash = try await small.hash("correct horse")
        #expect(hash.hasPrefix("$argon2id$v=19$m=64,t=2,p=1$"))
        #expect(try await small.verify("correct horse", against: hash))
        #expect(try await !small.verify("correct horsf", against: hash))
        #expect(try await !small.verify("", against: hash))
        #expect(try await small.hash("correct horse") != hash)
    }

    @Test("The default cost matches the documentation")
    func usualCost() {
        let cost = PasswordHasher().cost
        #expect((cost.memory, cost.passes, cost.lanes) == (19_456, 2, 1))
    }

    @Test("A rehash is needed for another cost, function or version, and for invalid hashes")
    func rehash() async throws {
        let hash = try await small.hash("a")
        #expect(!small.needsRehash(hash))
        #expect(PasswordHasher().needsRehash(hash))
        #expect(small.needsRehash(hash.replacing("argon2id", with: "argon2i")))
        #expect(small.needsRehash(hash.replacing("v=19", with: "v=16")))
        #expect(small.needsRehash("$scrypt$ln=4,r=8,p=1$c2FsdHNhbHQ$AAAAAAAAAAAAAAAAAAAAAA"))
        #expect(small.needsRehash("hunter2"))
    }

    @Test("Invalid and excessive hashes are rejected, and errors do not contain their text")
    func invalid() async throws {
        let hash = try await small.hash("a")
        let texts = [
            "", "hunter2", String(hash.dropLast(30)), hash + "$", hash + "=", " " + hash,
            hash.replacing("m=64", with: "m=4294967295"), hash.replacing("m=64", with: "m=7"),
            hash.replacing("t=2", with: "t=0"), hash.replacing("p=1", with: "p=0"),
            hash.replacing("m=64,t=2", with: "t=2,m=64"), hash.replacing("v=19$", with: ""),
            hash.replacing("t=2", with: "t=-2"), hash.replacing("t=2", with: "t=2,t=2"),
            "$scrypt$ln=40,r=8,p=1$c2FsdHNhbHQ$AAAAAAAAAAAAAAAAAAAAAA",
            "$2b$12$abcdefghijklmnopqrstuv",
        ]
        for text in texts {
            let error = await #expect(throws: SecurityError.self, "\(text)") {
                try await small.verify("a", against: text)
            }
            #expect(error?.code == .invalidHash)
            #expect(text.count < 4 || error.map { "\($0)".contains(text) } == false)
        }
    }

    @Test("A cost out of bounds is rejected")
    func bounds() async {
        for cost in [
            Argon2Cost(memory: 7), .init(passes: 0), .init(lanes: 65),
            .init(memory: 1 << 30),
        ] {
            await expectError(SecurityError.self, .invalidArgument) {
                try await PasswordHasher(cost: cost).hash("a")
            }
        }
    }
}

@Suite("Passwords in other libraries", .enabled(if: Peer.isPresent, Peer.absence))
struct PasswordPeerTests {
    @Test("argon2-cffi verifies 200 of Keel's hashes and rejects other passwords")
    func theyVerify() async throws {
        var random = SeededRandom(seed: 41)
        var tasks: [[String: String]] = []
        for number in 0..<200 {
            let lanes = Int.random(in: 1...4, using: &random)
            let cost = Argon2Cost(
                memory: Int.random(in: 8 * lanes...80, using: &random),
                passes: Int.random(in: 1...3, using: &random),
                lanes: lanes
            )
            let password = random.data(number % 40).base64EncodedString() + "ü"
            let hash = try await PasswordHasher(cost: cost).hash(password)
            for tried in [password, password + "x"] {
                tasks.append([
                    "do": "argon2Verify", "hash": Data(hash.utf8).base64EncodedString(),
                    "password": Data(tried.utf8).base64EncodedString(),
                ])
            }
        }
        let answers = try await Peer.run(tasks)
        for (index, answer) in answers.enumerated() {
            #expect((answer["ok"] != nil) == index.isMultiple(of: 2), "\(answer)")
        }
    }

    @Test(
        "Keel verifies 200 hashes by argon2-cffi and by the reference program, of every variant",
        arguments: [false, true]
    )
    func weVerify(isProgram: Bool) async throws {
        var random = SeededRandom(seed: isProgram ? 43 : 42)
        let tasks = (0..<200).map { number -> [String: String] in
            let lanes = Int.random(in: 1...4, using: &random)
            let text = random.data(3 + number % 20).base64EncodedString()
            let length = Int.random(in: 8...40, using: &random)
            return [
                "do": isProgram ? "argon2Tool" : "argon2",
                "type": ["ID", "ID", "I", "D"][number % 4],
                "m": "\(Int.random(in: 8 * lanes...80, using: &random))",
                "t": "\(Int.random(in: 1...3, using: &random))", "p": "\(lanes)",
                "length": "\(Int.random(in: 12...100, using: &random))",
                "salt": isProgram ? "salt of \(text)" : "\(length)",
                "password": Data("pass \(number)".utf8).base64EncodedString(),
            ]
        }
        let hasher = PasswordHasher()
        for (number, answer) in try await Peer.run(tasks).enumerated() {
            let hash = String(decoding: try #require(answer.bytes, "\(answer)"), as: UTF8.self)
            #expect(hash.contains("v=19"))
            #expect(try await hasher.verify("pass \(number)", against: hash), "\(hash)")
            #expect(try await !hasher.verify("pass", against: hash))
        }
    }

    @Test("Keel verifies scrypt hashes")
    func scrypt() async throws {
        let tasks = (1...20).map { number in
            [
                "do": "scrypt", "ln": "\(4 + number % 6)", "r": "8", "p": "\(1 + number % 3)",
                "salt": Data((0..<16).map { UInt8($0 + number) }).base64EncodedString(),
                "password": Data("pass \(number)".utf8).base64EncodedString(),
            ]
        }
        for (index, answer) in try await Peer.run(tasks).enumerated() {
            let hash = String(decoding: try #require(answer.bytes, "\(answer)"), as: UTF8.self)
            #expect(try await PasswordHasher().verify("pass \(index + 1)", against: hash))
            #expect(try await !PasswordHasher().verify("pass", against: hash))
            #expect(PasswordHasher().needsRehash(hash))
        }
    }
}
#endif
