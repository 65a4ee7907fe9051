import Foundation
import KeelHTTP
import KeelTestKit
import Testing

@Suite("An app that depends on HTTP alone")
struct ResolvedDependenciesTests {
    @Test("SwiftPM resolves no database for it")
    func resolvesNoDatabase() throws {
        let package = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let data = try Data(contentsOf: package.appending(path: "Package.resolved"))
        let resolved = try JSONDecoder().decode(Resolved.self, from: data)
        let names = Set(resolved.pins.map(\.identity))
        // The list is not empty: it contains the dependencies of HTTP.
        #expect(names.contains("async-http-client"))
        #expect(names.contains("swift-http-types"))
        #expect(names.filter { $0.contains("grdb") } == [])
    }

    private struct Resolved: Decodable {
        struct Pin: Decodable { var identity: String }
        var pins: [Pin]
    }
}
