import KeelCore
import KeelLocation
import Testing

@Suite("Location errors")
struct LocationErrorTests {
    @Test("Every code has a unique name and advice", arguments: LocationError.Code.known)
    func advice(_ code: LocationError.Code) {
        #expect(LocationError.Code.known.filter { $0 == code }.count == 1)
        #expect(code.advice.hasSuffix("."))
        let error = LocationError(code, "It failed.")
        #expect(error.recoverySuggestion == code.advice)
        #expect(error.description == "\(code.name): It failed.")
    }

    @Test("Only failures that pass by themselves are transient")
    func transience() {
        let transient = LocationError.Code.known.filter(\.isTransient)
        #expect(Set(transient) == [.unavailable, .timedOut, .signalLost, .disconnected])
    }

    @Test("Each permission that is not granted has its error")
    func permissions() {
        let refusals = LocationPermission.allCases.map { $0.refusal?.code }
        #expect(
            refusals == [nil, .permissionNotDetermined, .permissionRestricted, .permissionDenied]
                + [nil, nil]
        )
        for permission in LocationPermission.allCases {
            #expect(permission.isGranted == (permission.refusal == nil))
        }
    }
}
