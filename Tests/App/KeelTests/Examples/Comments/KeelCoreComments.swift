import Foundation
import HTTPTypes
import Keel
import KeelCore
import KeelTestKit
import Testing

/// Examples from the comments of KeelCore; compiled but not run, see ``CommentExamples``.
extension CommentExamples {
    static func concurrentMap(_ ids: [String]) async throws {
        let restaurants = try await ids.concurrentMap(limit: 4) { id in try await fetch(id) }
        _ = restaurants
    }

    static func redactor() async throws {
        let redactor = Redactor.standard
        print(redactor.redact("login of ada@example.org, token=4f2a"))
        // login of <redacted>, token=<redacted>
        print(redactor.redact("Bearer 4f2a", named: "Authorization"))
        // <redacted>
        print(redactor.redactURL("https://example.org/a?page=2&key=1"))
        // https://example.org/a?page=redacted&key=redacted
        _ = redactor
    }

    static func singleFlight(_ url: URL) async throws {
        let flights = SingleFlight<URL, Image>()
        let image = try await flights.run(url) { try await load(url) }
        _ = flights
        _ = image
    }
}
