#if Crypto
import Foundation
import KeelSecurity
import KeelTestKit
import Testing

@Suite("Tink's streams in Python", .enabled(if: Peer.isPresent, Peer.absence))
struct TinkStreamTests {
    @Test("Streams are decrypted in both directions", arguments: streamAlgorithms, [true, false])
    func bothWays(_ algorithm: KeyAlgorithm, _ isTheirs: Bool) async throws {
        var random = SeededRandom(seed: 31)
        let keyset = try await isTheirs ? theirKeyset(algorithm) : Keyset.make(algorithm)
        let streams = try StreamingEncryption(keyset: keyset)
        let json = keyset.cleartextJSON().base64EncodedString()
        let sizes = sizes(algorithm, using: &random)
        var plain: [Data] = []
        var places: [Data] = []
        var tasks: [[String: String]] = []
        for size in sizes {
            let data = random.data(size)
            let place = random.data(size % 20)
            let sealed = try StreamingTests.encrypted(data, streams, piece: 40_000, place: place)
            for (name, bytes) in [("decryptStream", sealed), ("encryptStream", data)] {
                tasks.append([
                    "do": name, "keyset": json, "data": bytes.base64EncodedString(),
                    "context": place.base64EncodedString(),
                ])
            }
            plain.append(data)
            places.append(place)
        }
        let answers = try await Peer.run(tasks)
        for index in sizes.indices {
            let read = answers[2 * index]
            #expect(read.bytes == plain[index], "\(read["error"] ?? "")")
            let theirs = try StreamingTests.decrypted(
                try #require(answers[2 * index + 1].bytes),
                streams,
                piece: 40_000,
                place: places[index]
            )
            #expect(theirs == plain[index])
        }
        print("\(algorithm), \(isTheirs ? "Tink's" : "Keel's") keyset: \(sizes.count) each way")
    }

    /// Returns random sizes and those at segment boundaries; fewer if segments are large.
    private func sizes(_ algorithm: KeyAlgorithm, using random: inout SeededRandom) -> [Int] {
        let (segment, count) =
            switch algorithm {
            case .aes256GCMHKDF4KB: (4096, 252)
            case .aes256GCMHKDF64KB: (65_536, 252)
            default: (1 << 20, 252)
            }
        let edges = [1, 2].flatMap { number in
            (-1...1).map { number * (segment - 16) - 40 + $0 }
        }
        let largest = segment == 1 << 20 ? 3000 : segment * 2
        return edges + (0..<count).map { _ in Int.random(in: 0...largest, using: &random) } + [
            0, 1,
        ]
    }

    private func theirKeyset(_ algorithm: KeyAlgorithm) async throws -> Keyset {
        let answers = try await Peer.run([["do": "make", "template": algorithm.description]])
        return try Keyset(cleartextJSON: try #require(answers[0].bytes, "\(answers[0])"))
    }
}
#endif
