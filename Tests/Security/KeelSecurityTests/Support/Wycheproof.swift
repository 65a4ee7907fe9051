import Foundation
import KeelCore
import KeelTestSupport
import Testing

/// Project Wycheproof's test vectors, read from outside of the repository.
struct Wycheproof: Decodable {
    var testGroups: [Group]

    struct Group: Decodable {
        var keySize: Int?
        var ivSize: Int?
        var tagSize: Int?
        var publicKey: PublicKey?
        var privateKeyPem: String?
        var tests: [Vector]
    }

    struct PublicKey: Decodable { var pk: String? }

    struct Vector: Decodable {
        var tcId: Int
        var key: String?
        var iv: String?
        var aad: String?
        var msg: String?
        var ct: String?
        var tag: String?
        var sig: String?
        var label: String?
        var result: String
    }

    /// The folder of the vectors, which are not part of this repository.
    static let folder = URL.conformance.appendingPathComponent("wycheproof")

    static let isPresent = FileManager.default.fileExists(atPath: folder.path)

    static let absence: Comment =
        "SKIPPED: there are no vectors in \(folder.path); KEEL_CONFORMANCE names a folder"

    static func read(_ name: String) throws -> Wycheproof {
        let file = folder.appendingPathComponent("\(name).json")
        return try JSONDecoder().decode(Wycheproof.self, from: Data(contentsOf: file))
    }

    static func bytes(_ digits: String?) throws -> [UInt8] {
        let digits = try #require(digits)
        return try #require(Hexadecimal.bytes(of: digits))
    }
}
