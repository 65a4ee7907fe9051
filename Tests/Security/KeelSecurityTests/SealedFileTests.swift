#if Crypto
import Foundation
import KeelCore
import KeelSecurity
import KeelTestSupport
import Testing

@Suite("Sealed files")
struct SealedFileTests {
    /// A cost that a test can pay.
    private static let cost = Argon2Cost(memory: 64, passes: 1, lanes: 1)
    private static let context = Data("reports".utf8)
    private let owner = SealedFileIdentity()

    private func sealed(_ plain: Data, for recipients: [SealedFileRecipient]) throws -> Data {
        let (header, encryptor) = try SealedFileHeader.sealing(
            for: recipients,
            context: Self.context
        )
        return header.bytes + (try encryptor.update(plain)) + (try encryptor.finish())
    }

    private func sealed(_ plain: Data, under passphrase: String) async throws -> Data {
        let (header, encryptor) = try await SealedFileHeader.sealing(
            passphrase: passphrase,
            cost: Self.cost,
            context: Self.context
        )
        return header.bytes + (try encryptor.update(plain)) + (try encryptor.finish())
    }

    private func open(
        _ file: Data,
        _ identities: [SealedFileIdentity],
        context: Data = Self.context
    ) throws -> Data {
        let header = try #require(try SealedFileHeader(beginning: file))
        var decryptor = try header.decryptor(identities: identities, context: context)
        let rest = Data(file.dropFirst(header.bytes.count))
        return try decryptor.update(rest) + decryptor.finish()
    }

    private func open(
        _ file: Data,
        passphrase: String,
        context: Data = Self.context
    ) async throws -> Data {
        let header = try #require(try SealedFileHeader(beginning: file))
        var decryptor = try await header.decryptor(passphrase: passphrase, context: context)
        let rest = Data(file.dropFirst(header.bytes.count))
        return try decryptor.update(rest) + decryptor.finish()
    }

    @Test("Each recipient opens the file, and nobody else", arguments: [0, 1, 65_480, 200_000])
    func recipients(count: Int) throws {
        let plain = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 / 7) })
        let second = SealedFileIdentity()
        let file = try sealed(plain, for: [owner.recipient, second.recipient])
        let header = try #require(try SealedFileHeader(beginning: file))
        #expect(header.recipientCount == 2 && !header.usesPassphrase)
        #expect(try open(file, [owner]) == plain)
        #expect(try open(file, [SealedFileIdentity(), second]) == plain)
        expectError(SecurityError.self, .keyNotFound) { try open(file, [SealedFileIdentity()]) }
        expectError(SecurityError.self, .decryptionFailed) {
            try open(file, [owner], context: Data("letters".utf8))
        }
    }

    @Test("Only the passphrase opens its file")
    func passphrase() async throws {
        let plain = Data("hello".utf8)
        let file = try await sealed(plain, under: "correct horse")
        #expect(try await open(file, passphrase: "correct horse") == plain)
        for wrong in ["correct horse ", "battery", ""] {
            await expectError(SecurityError.self, .decryptionFailed) {
                try await open(file, passphrase: wrong)
            }
        }
        let other = #expect(throws: SecurityError.self) { try open(file, [owner]) }
        #expect(other?.code == .keyNotFound)
        let recipients = try sealed(plain, for: [owner.recipient])
        await expectError(SecurityError.self, .keyNotFound) {
            try await open(recipients, passphrase: "x")
        }
    }

    @Test("A file without recipients or with an empty passphrase is not written")
    func refusesEmpty() async {
        let none = #expect(throws: SecurityError.self) { try SealedFileHeader.sealing(for: []) }
        #expect(none?.code == .invalidArgument)
        await expectError(SecurityError.self, .invalidArgument) {
            try await SealedFileHeader.sealing(passphrase: "", cost: Self.cost)
        }
        await expectError(SecurityError.self, .invalidArgument) {
            try await SealedFileHeader.sealing(
                passphrase: "x",
                cost: Argon2Cost(memory: 1 << 20, passes: 17, lanes: 1)
            )
        }
    }

    @Test("Every changed byte of a small file is noticed")
    func flippedBits() async throws {
        let files = [
            try sealed(Data("hello".utf8), for: [owner.recipient, SealedFileIdentity().recipient]),
            try await sealed(Data("hello".utf8), under: "x"),
        ]
        for file in files {
            for index in file.indices {
                var changed = file
                changed[index] ^= 0x10
                // A cost or a length that changed may be beyond the limits, or ask for more bytes.
                let opened: Data?
                do {
                    guard let header = try SealedFileHeader(beginning: changed) else { continue }
                    opened =
                        header.usesPassphrase
                        ? try await open(changed, passphrase: "x") : try open(changed, [owner])
                } catch {
                    opened = nil
                }
                #expect(opened == nil, "byte \(index)")
            }
        }
    }

    @Test("A file truncated at any byte of the header or boundary of a segment is refused")
    func truncated() throws {
        let plain = Data(repeating: 7, count: 200_000)
        let file = try sealed(plain, for: [owner.recipient])
        let header = try #require(try SealedFileHeader(beginning: file)).bytes.count
        for count in 0..<header {
            #expect(try SealedFileHeader(beginning: file.prefix(count)) == nil, "\(count) bytes")
        }
        var lengths = [0, 1, 40, 41].map { header + $0 } + [file.count - 1, file.count - 17]
        for segment in 1...3 {
            lengths += [-1, 0, 1].map { header + segment * 65_536 + $0 }
        }
        for count in lengths {
            let error = #expect(throws: SecurityError.self, "\(count) bytes") {
                try open(file.prefix(count), [owner])
            }
            #expect(error?.code == .decryptionFailed)
        }
        #expect(throws: SecurityError.self) { try open(file + [0], [owner]) }
    }

    @Test("Segments that were swapped, repeated or taken from another file are refused")
    func swapped() throws {
        let plain = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 >> 16) })
        let file = try sealed(plain, for: [owner.recipient])
        let other = try sealed(plain, for: [owner.recipient])
        let header = try #require(try SealedFileHeader(beginning: file)).bytes.count
        func segment(_ index: Int, of file: Data) -> Data {
            file[header + index * 65_536..<header + (index + 1) * 65_536]
        }
        let head = file.prefix(header)
        let tail = file.dropFirst(header + 3 * 65_536)
        let (a, b, c) = (segment(0, of: file), segment(1, of: file), segment(2, of: file))
        func joined(_ segments: [Data]) -> Data { segments.reduce(head) { $0 + $1 } + tail }
        #expect(try open(joined([a, b, c]), [owner]) == plain)
        let foreign = segment(1, of: other)
        let orders: [[Data]] = [[a, c, b], [a, b, b], [a, b], [a, foreign, c]]
        var wrong = orders.map(joined)
        wrong.append(other.prefix(header) + file.dropFirst(header))
        for file in wrong { #expect(throws: SecurityError.self) { try open(file, [owner]) } }
    }

    @Test("Headers that no writer makes are refused")
    func crafted() async throws {
        let file = try await sealed(Data(), under: "x")
        let entry = file[13..<13 + 79]
        let recipient = try sealed(Data(), for: [owner.recipient])[13..<13 + 83]
        func header(_ body: Data) -> Data {
            var bytes = Data("KEELSEAL".utf8)
            bytes.append(1)
            withUnsafeBytes(of: UInt32(body.count).bigEndian) { bytes.append(contentsOf: $0) }
            return bytes + body + Data(count: 32)
        }
        for body in [
            Data(), entry + entry, entry + recipient, recipient + entry, entry.dropLast(),
            Data([1, 0, 5, 0, 0, 0, 0, 0]), Data([1, 0]),
        ] {
            let error = #expect(throws: SecurityError.self) {
                try SealedFileHeader(beginning: header(body))
            }
            #expect(error?.code == .decryptionFailed)
        }
        // 4 GiB of memory: refused before it is taken.
        var greedy = Data(entry)
        greedy.replaceSubrange(greedy.startIndex + 3..<greedy.startIndex + 7, with: [0, 64, 0, 0])
        let costly = await #expect(throws: SecurityError.self) {
            try await open(header(greedy), passphrase: "x")
        }
        #expect(costly?.message.contains("beyond the limits") == true)
        let long = Data("KEELSEAL".utf8) + [1, 0xFF, 0xFF, 0xFF, 0xFF]
        #expect(throws: SecurityError.self) { try SealedFileHeader(beginning: long) }
        let later = #expect(throws: SecurityError.self) {
            try SealedFileHeader(beginning: Data("KEELSEAL".utf8) + [2])
        }
        #expect(later?.code == .unsupportedKey)
        let foreign = #expect(throws: SecurityError.self) {
            try SealedFileHeader(beginning: Data("%PDF".utf8))
        }
        #expect(foreign?.code == .invalidArgument)
    }

    // MARK: Test vectors

    /// Keys of 32 bytes 1 and 32 bytes 2.
    private static let identities = [
        "keelsec10101010101010101010101010101010101010101010101010101010101010101bc666125",
        "keelsec102020202020202020202020202020202020202020202020202020202020202026793ad85",
    ]

    @Test("Files that another implementation wrote from the description are opened")
    func vectors() async throws {
        let first = try SealedFileIdentity(Self.identities[0])
        let second = try SealedFileIdentity(Self.identities[1])
        let recipient =
            "keelpub1a4e09292b651c278b9772c569f5fa9bb13d906b46ab68c9df9dc2b4409f8a209a87c5d82"
        #expect(first.recipient.description == recipient)
        let forBoth = try #require(
            Data(
                base64Encoded: """
                    S0VFTFNFQUwBAAAApgEAUFfbSzWfI65eFG5OJRIFZwRyJQY0jBUMFHU9DJM9BNQhWM/Senkd/iE6Cqt9anKM\
                    IlTPdINJ7HhXm+bQsmVYuR18l7PExzKG9x8U6f4UQl/vAQBQ93/0sQeIv9ymLKC7Fg1CfPV2LYXytcrWgH7J\
                    w/673gnkWJO3ygYYRDi6Pc9HN0JyKF+m9+Mxy1oBQZBEsDz1zE9wPuv5WB7iH/hNckbL/snnlPkUQfELQbgE\
                    azxmhGcHiGdkzB+svTrSdujwUqcNMChAQUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVpbXF1eXwABAgMEBQZD\
                    oh5oWJVdZTicDc+i/fsS2HYfpM6ZF5aKJQbsy+7bK6XO
                    """
            )
        )
        for identity in [first, second] {
            #expect(try open(forBoth, [identity]) == Data("Hello, sealed file".utf8))
        }
        let underPassphrase = try #require(
            Data(
                base64Encoded: """
                    S0VFTFNFQUwBAAAATwIATAAAAEAAAAABAAAAAQABAgMEBQYHCAkKCwwNDg8Xas3Ms2IkOS1lq+o3pKsKTjyp\
                    nuEX/1HEcRgMACZo2S5PQXiyO/nI7/mWKkHXQ0PvyuEy4niwlEZAuU0ExtOTGU6RZfFfyXqpNCymcpMtWShA\
                    QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVpbXF1eXwABAgMEBQaIStZ3gup5QLVCTc+iw0X7bdH/uB0sOB4F\
                    3OvbBKAalxk=
                    """
            )
        )
        let opened = try await open(underPassphrase, passphrase: "correct horse", context: Data())
        #expect(opened == Data("Hello, passphrase".utf8))
        let withLaterKind = try #require(
            Data(
                base64Encoded: """
                    S0VFTFNFQUwBAAAAW00ABWxhdGVyAQBQV9tLNZ8jrl4Ubk4lEgVnBHIlBjSMFQwUdT0Mkz0E1CFYz9J6eR3+\
                    IToKq31qcowiVM90g0nseFeb5tCyZVi5HXyXs8THMob3HxTp/hRCX+93XY78fDN6rO2JgkWwbOLsUaJDyVZN\
                    KYPj5nZWc2egOihAQUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVpbXF1eXwABAgMEBQaRfSTXo+ICV+VjfGTF\
                    35QUQgzVPO5Mw08Kmpa7NTP8keA=
                    """
            )
        )
        let later = try open(withLaterKind, [first], context: Data())
        #expect(later == Data("Hello, later kind".utf8))
    }
}
#endif
