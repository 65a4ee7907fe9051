import Foundation
import KeelHTTP
import KeelTestSupport
import KeelURITemplates
import Testing

/// One case of the public vectors for URI templates.
struct URITemplateVector: Sendable, CustomTestStringConvertible {
    let section: String
    let template: String
    let values: [String: URITemplate.Value]
    /// The acceptable expansions; nil if the template must be refused.
    let expected: [String]?

    var testDescription: String { "\(section): \(template)" }

    /// The folder of the vectors, which are not part of this repository.
    static let folder = URL.conformance.appendingPathComponent("uri-template")

    /// All cases; empty if the folder is absent.
    static let all: [URITemplateVector] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { $0.hasSuffix(".json") }.sorted().flatMap { name in
            guard let data = try? Data(contentsOf: folder.appendingPathComponent(name)),
                let sections = try? JSONDecoder().decode([String: Section].self, from: data)
            else {
                return [
                    URITemplateVector(
                        section: name,
                        template: "unreadable",
                        values: [:],
                        expected: []
                    )
                ]
            }
            return sections.sorted { $0.key < $1.key }.flatMap { title, section in
                let values = section.variables.compactMapValues(\.value)
                return section.testcases.map { row in
                    URITemplateVector(
                        section: title,
                        template: row.template,
                        values: values,
                        expected: row.expected
                    )
                }
            }
        }
    }()

    private struct Section: Decodable {
        var variables: [String: Variable]
        var testcases: [Row]
    }

    private struct Row: Decodable {
        let template: String
        let expected: [String]?

        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            template = try container.decode(String.self)
            if let text = try? container.decode(String.self) {
                expected = [text]
            } else if let texts = try? container.decode([String].self) {
                expected = texts
            } else {
                guard try container.decode(Bool.self) == false else {
                    throw DecodingError.dataCorruptedError(in: container, debugDescription: "true")
                }
                expected = nil
            }
        }
    }

    private struct Variable: Decodable {
        let value: URITemplate.Value?

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let text = try? container.decode(String.self) {
                value = .string(text)
            } else if let number = try? container.decode(Double.self) {
                value = URITemplate.Value(number)
            } else if let texts = try? container.decode([String].self) {
                value = .list(texts)
            } else if let pairs = try? container.decode([String: String].self) {
                let items = pairs.sorted { $0.key < $1.key }
                value = .pairs(items.map { HTTPQuery.Item(name: $0.key, value: $0.value) })
            } else {
                value = nil
            }
        }
    }
}

/// The vectors of uri-templates/uritemplate-test, read from outside of the repository.
@Suite("Public URI template vectors")
struct URITemplateVectorTests {
    private static let isPresent = !URITemplateVector.all.isEmpty
    private static let absence: Comment =
        "there are no vectors in \(URITemplateVector.folder.path); KEEL_CONFORMANCE names a folder"

    @Test(
        "A template expands to an expected text or is rejected",
        .enabled(if: isPresent, absence),
        arguments: URITemplateVector.all
    )
    func agrees(_ vector: URITemplateVector) {
        let text = Result { try URITemplate(vector.template).expanded(vector.values) }
        if let expected = vector.expected {
            #expect((try? text.get()).map(expected.contains) == true, "\(text)")
        } else {
            #expect(throws: URITemplateError.self) { try text.get() }
        }
    }

    @Test("All vectors can be read", .enabled(if: isPresent, absence))
    func isComplete() {
        print("URI template vectors: \(URITemplateVector.all.count)")
        #expect(!URITemplateVector.all.contains { $0.template == "unreadable" })
        #expect(URITemplateVector.all.contains { $0.expected == nil })
        #expect(URITemplateVector.all.contains { $0.expected != nil })
    }
}
