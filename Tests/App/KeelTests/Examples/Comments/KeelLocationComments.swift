import Foundation
import HTTPTypes
import Keel
import KeelLocation
import KeelTestKit
import Testing

/// Examples from the comments of KeelLocation; compiled but not run, see ``CommentExamples``.
extension CommentExamples {
    static func observedLocationAdapter() async throws {
        let adapter = GPSDLocationAdapter().observed { use in
            if let code = use.failure { counter("location.failures", code.name).increment() }
        }
        _ = adapter
    }

    static func locationService(_ map: Map) async throws {
        let location = LocationService.platformDefault()
        guard try await location.requestPermission().isGranted else { return }
        let here = try await location.currentLocation(accuracy: 50, timeout: .seconds(10))
        for try await fix in location.fixes(minimumDistance: 10) { map.move(to: fix.coordinate) }
        _ = location
        _ = here
    }

    static func scriptedLocationAdapter(_ harbour: LocationFix, _ island: LocationFix) async throws
    {
        let adapter = ScriptedLocationAdapter(.fixes([harbour, island], every: .seconds(5)))
        let location = LocationService(adapter)
        _ = adapter
        _ = location
    }
}
