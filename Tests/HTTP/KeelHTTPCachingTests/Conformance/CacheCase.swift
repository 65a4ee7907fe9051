import Foundation
import KeelTestSupport
import Testing

/// A case of the public test suite for HTTP caches: requests and their expected outcomes.
///
/// The suite is published at github.com/http-tests/cache-tests, not in this repository.
struct CacheCase: Decodable, Sendable, CustomTestStringConvertible {
    enum Kind: String, Decodable, Sendable { case required, optimal, check }

    let id: String
    let name: String
    let requests: [Request]
    private let kindOrNone: Kind?
    private let dependsOn: [String]?
    private let browserOnly: Bool?
    private let browserSkip: Bool?
    private let cdnOnly: Bool?

    var kind: Kind { kindOrNone ?? .required }
    var dependencies: [String] { dependsOn ?? [] }
    var isBrowserOnly: Bool { browserOnly ?? false }
    var isCDNOnly: Bool { cdnOnly ?? false }
    /// Whether it applies only to shared caches.
    var isSharedOnly: Bool { (browserSkip ?? false) && name.lowercased().contains("shared") }
    var hasInterimResponses: Bool { requests.contains { $0.interimResponses != nil } }

    var testDescription: String { "\(id) (\(kind.rawValue))" }

    private enum CodingKeys: String, CodingKey {
        case id, name, requests
        case kindOrNone = "kind"
        case dependsOn = "depends_on"
        case browserOnly = "browser_only"
        case browserSkip = "browser_skip"
        case cdnOnly = "cdn_only"
    }

    /// A value in the suite's lists.
    enum Value: Decodable, Sendable, Hashable {
        case text(String)
        case number(Int)
        case flag(Bool)
        case list([Value])
        case none

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                self = .none
            } else if let text = try? container.decode(String.self) {
                self = .text(text)
            } else if let values = try? container.decode([Value].self) {
                self = .list(values)
            } else if let number = try? container.decode(Int.self) {
                self = .number(number)
            } else {
                self = .flag(try container.decode(Bool.self))
            }
        }

        var text: String? {
            switch self {
            case .text(let text): text
            case .number(let number): String(number)
            case .flag, .list, .none: nil
            }
        }

        var number: Int? {
            guard case .number(let number) = self else { return nil }
            return number
        }

        var list: [Value] {
            guard case .list(let values) = self else { return [] }
            return values
        }
    }

    struct Request: Decodable, Sendable {
        var cache: String?
        var checkBody: Bool?
        var disconnect: Bool?
        var expectedInterimResponses: Value?
        var expectedMethod: String?
        var expectedRequestHeaders: [Value]?
        var expectedRequestHeadersMissing: [Value]?
        var expectedResponseHeaders: [Value]?
        var expectedResponseHeadersMissing: [Value]?
        var expectedResponseText: Value?
        var expectedStatus: Value?
        var expectedType: String?
        var filename: String?
        var interimResponses: Value?
        var magicIms: Bool?
        var magicLocations: Bool?
        var pauseAfter: Bool?
        var queryArg: String?
        var requestBody: String?
        var requestHeaders: [Value]?
        var requestMethod: String?
        var responseBody: Value?
        var responseHeaders: [Value]?
        var responsePause: Double?
        var responseStatus: [Value]?
        var rfc850date: [String]?
        var setup: Bool?
        var setupTests: [String]?

        /// The members present, because `null` differs from absence for some.
        private(set) var members: Set<String> = []

        private struct AnyKey: CodingKey {
            var stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: AnyKey.self)
            members = Set(container.allKeys.map(\.stringValue))
            func value<T: Decodable>(_ key: String) throws -> T? {
                try container.decodeIfPresent(T.self, forKey: AnyKey(stringValue: key))
            }
            cache = try value("cache")
            checkBody = try value("check_body")
            disconnect = try value("disconnect")
            expectedInterimResponses = try value("expected_interim_responses")
            expectedMethod = try value("expected_method")
            expectedRequestHeaders = try value("expected_request_headers")
            expectedRequestHeadersMissing = try value("expected_request_headers_missing")
            expectedResponseHeaders = try value("expected_response_headers")
            expectedResponseHeadersMissing = try value("expected_response_headers_missing")
            expectedResponseText = try value("expected_response_text")
            expectedStatus = try value("expected_status")
            expectedType = try value("expected_type")
            filename = try value("filename")
            interimResponses = try value("interim_responses")
            magicIms = try value("magic_ims")
            magicLocations = try value("magic_locations")
            pauseAfter = try value("pause_after")
            queryArg = try value("query_arg")
            requestBody = try value("request_body")
            requestHeaders = try value("request_headers")
            requestMethod = try value("request_method")
            responseBody = try value("response_body")
            responseHeaders = try value("response_headers")
            responsePause = try value("response_pause")
            responseStatus = try value("response_status")
            rfc850date = try value("rfc850date")
            setup = try value("setup")
            setupTests = try value("setup_tests")
        }

        /// Whether a failure of this check only means that the case could not be set up.
        func isSetup(_ member: String) -> Bool {
            setup == true || (setupTests ?? []).contains(member)
        }

        /// Returns a field of the suite as name and text, with dates and locations inserted.
        func fixed(_ entry: Value, now: Int64, base: String) -> (name: String, text: String) {
            let parts = entry.list
            let name = parts.first?.text ?? ""
            let lower = name.lowercased()
            let value = parts.count > 1 ? parts[1] : .none
            var text = value.text ?? ""
            if Self.dateFields.contains(lower), let offset = value.number {
                text = SuiteDate.text(
                    now / 1000 + Int64(offset),
                    isRFC850: (rfc850date ?? []).contains(lower)
                )
            }
            if ["location", "content-location"].contains(lower), magicLocations == true {
                text = text.isEmpty ? base : base + "/" + text
            }
            return (name, text)
        }

        private static let dateFields: Set<String> = [
            "date", "expires", "last-modified", "if-modified-since", "if-unmodified-since",
        ]
    }
}

/// Dates in the format of the suite's server.
enum SuiteDate {
    private static let formatters = ["EEE, dd MMM yyyy", "EEEE, dd-MMM-yy"].map { form in
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = form + " HH:mm:ss 'GMT'"
        return formatter
    }

    static func text(_ seconds: Int64, isRFC850: Bool) -> String {
        formatters[isRFC850 ? 1 : 0].string(
            from: Date(timeIntervalSince1970: TimeInterval(seconds))
        )
    }
}

/// The suite, if it is available.
enum CacheSuite {
    private struct Group: Decodable { let tests: [CacheCase] }

    static let file = URL.conformance.appendingPathComponent("http-cache/tests.json")

    static var isPresent: Bool { FileManager.default.fileExists(atPath: file.path) }

    /// All cases; empty if the file does not exist.
    static let all: [CacheCase] = {
        guard let data = try? Data(contentsOf: file) else { return [] }
        do {
            return try JSONDecoder().decode([Group].self, from: data).flatMap(\.tests)
        } catch {
            fatalError("The suite cannot be read: \(error)")
        }
    }()
}
