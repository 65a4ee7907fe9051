package import Foundation

extension URL {
    /// The folder of public test vectors, which are not part of this repository.
    ///
    /// `KEEL_CONFORMANCE` names it; without the variable it is `shared/conformance` beside the checkout.
    package static let conformance: URL = {
        if let given = ProcessInfo.processInfo.environment["KEEL_CONFORMANCE"] {
            return URL(fileURLWithPath: given)
        }
        var checkout = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
        for _ in 0..<4 { checkout.deleteLastPathComponent() }
        return checkout.deletingLastPathComponent().appendingPathComponent("shared/conformance")
    }()
}
