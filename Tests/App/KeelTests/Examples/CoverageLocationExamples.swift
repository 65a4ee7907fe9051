import Foundation
import Keel
import Testing

@Suite("Coverage: location")
struct CoverageLocationExamples {
    @Test("Row 18")
    func location() async throws {
        let coordinate = try LocationCoordinate(latitude: 59.3293, longitude: 18.0686)
        let harbour = try LocationFix(coordinate, horizontalAccuracy: 4, time: Date())
        let source = ScriptedLocationAdapter(.fixes([harbour]))
        let location = LocationService(source)
        guard try await location.requestPermission().isGranted else { return }
        let here = try await location.currentLocation(accuracy: 50, timeout: .seconds(10))
        #expect(here.coordinate.distance(to: harbour.coordinate) < 1)
        for await state in location.states where state.isFixed { break }
        #expect(location.lastFix == harbour)
    }

    @Test("Row 18, regions")
    func regions() async throws {
        let center = try LocationCoordinate(latitude: 59.3293, longitude: 18.0686)
        let fix = try LocationFix(center, horizontalAccuracy: 4, time: Date())
        let location = LocationService(ScriptedLocationAdapter(.fixes([fix])))
        let office = try LocationRegion(id: "office", center: center, radius: 150)
        for try await event in try location.regionEvents([office]) {
            #expect(event.kind == .entered)
            break
        }
    }
}
