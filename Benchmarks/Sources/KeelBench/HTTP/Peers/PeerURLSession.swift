import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension HTTPGroup {
    static func urlSession(_ pair: Lazily<HTTPPair>, _ options: Options) -> Measure {
        let session = URLSession(configuration: .ephemeral)
        let count = options.scaled(1_600)
        return Measure(
            name: "small GET, 8 at once / URLSession",
            target: .atLeast(1.8),
            keel: {
                let pair = try await pair.value()
                return try await time(max(count, 8), at: 8) { try await pair.keelGet() }
            },
            peer: {
                guard let url = URL(string: "\(try await pair.value().address)/small")
                else { throw Flaw("No address.") }
                return try await time(max(count, 8), at: 8) {
                    let (data, _) = try await session.data(from: url)
                    guard data.count == 256 else { throw Flaw("The peer got another body.") }
                }
            }
        )
    }
}
