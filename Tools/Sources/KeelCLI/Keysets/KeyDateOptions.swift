import ArgumentParser
import Foundation
import KeelSecurity

/// The dates of a new key.
struct KeyDateOptions: ParsableArguments {
    @Option(
        help: "The time from which the key encrypts, so that all readers have it by then: RFC 3339."
    )
    var notBefore: String?

    @Option(help: "The time from which the key only decrypts.")
    var expires: String?

    @Option(help: "The time from which the key is destroyed, once another key is the primary one.")
    var destroyAfter: String?

    func validate() throws { _ = try dates() }

    func dates() throws -> KeyDates {
        KeyDates(
            notBefore: try date(notBefore, "--not-before"),
            expires: try date(expires, "--expires"),
            destroyAfter: try date(destroyAfter, "--destroy-after")
        )
    }

    private func date(_ text: String?, _ option: String) throws -> Date? {
        guard let text else { return nil }
        guard let date = try? Date(text, strategy: .iso8601) else {
            throw ValidationError("\(option) is a time as 2027-01-31T00:00:00Z, not “\(text)”.")
        }
        return date
    }
}
