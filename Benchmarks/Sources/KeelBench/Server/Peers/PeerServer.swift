import Foundation
import Hummingbird

/// The peer of `keel serve`: a bare Hummingbird server with routes to read one place, to read all and to change one, as
/// an experienced developer would write them for one table.
///
/// `keel-bench __peer-server FILE` prints its port and ends with its standard input. It does the work of ``PeerStore``
/// on the same connection pool, and has no protocol, limits, commit ids or listeners.
struct PeerServer: Sendable {
    static let command = "__peer-server"

    private let store: PeerStore

    init(_ file: String) throws {
        store = try PeerStore(opening: file, .two, body: .cbor)
    }

    @concurrent
    func run() async throws {
        let router = Router()
        router.get("places/:id") { [store] _, context in
            let id = try context.parameters.require("id")
            guard let place = try PeerGet.withDocumentDecoder(id, in: store) else {
                throw HTTPError(.notFound)
            }
            return place
        }
        router.get("places") { [store] _, _ in try PeerList.run(in: store) }
        router.put("places/:id") { [store] request, context in
            let place = try await request.decode(as: Place.self, context: context)
            try PeerSet.run(place, scoreChanges: true, in: store)
            return HTTPResponse.Status.ok
        }
        let application = Application(
            router: router,
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in
                // `print` with `fflush(nil)` would wait for the lock of standard input, which the reader below holds.
                let line = "\(channel.localAddress?.port ?? 0)\n"
                FileHandle.standardOutput.write(Data(line.utf8))
            }
        )
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { try await application.run() }
            while readLine() != nil {}
            exit(0)
        }
    }
}

extension Place: ResponseCodable {}
