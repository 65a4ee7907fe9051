import Foundation
import HTTPTypes
import Keel
import KeelAnalytics
import KeelTestKit
import KeelURITemplates

// Examples from comments that declare what cannot be in a function; compiled but not run.

enum PriorityKey: HTTPCallOptionKey { static var defaultValue: Int { 0 } }

extension HTTPCallOptions {
    var priority: Int {
        get { self[PriorityKey.self] }
        set { self[PriorityKey.self] = newValue }
    }
}

private struct Restaurant: Codable {
    var id: String
    var name: String
}

extension Restaurant: PredicateFieldNaming {
    static var fieldNames: [PartialKeyPath<Restaurant>: FieldPath] {
        [\.id: .documentID, \.name: "title"]
    }
}

enum MappedComments {
    struct Grade: Sendable {}

    struct GradeDTO: Codable, Sendable, DomainConvertible {
        func toDomain() throws(MappingError) -> Grade { Grade() }
    }

    struct Restaurant: Sendable {
        var id: UUID
        var name: String
        var opened: Date
        var website: URL?
        var grades: [Grade]
    }

    struct Stars: Sendable {
        init?(_ count: Int) { guard (1...5).contains(count) else { return nil } }
    }

    struct Review: Sendable {
        var stars: Stars
    }

    static func review(_ stars: Int, _ fields: FieldMapper) throws -> Review {
        Review(
            stars: try fields.value(stars, "stars", expecting: "1 to 5 stars") { Stars($0) }
        )
    }
}

private struct RestaurantDTO: Codable, Sendable {
    var id: String
    var name: String?
    var opened: String?
    var website: String?
    var grades: [MappedComments.GradeDTO]?
}

extension RestaurantDTO {
    typealias Restaurant = MappedComments.Restaurant
}

extension RestaurantDTO: DomainConvertible {
    func toDomain() throws(MappingError) -> Restaurant {
        let fields = FieldMapper(of: id)
        return Restaurant(
            id: try fields.uuid(id, "id"),
            name: try fields.text(name, "name"),
            opened: try fields.date(opened, "opened"),
            website: try fields.optional.url(website, "website"),
            grades: try fields.list(grades, "grades")
        )
    }
}

private enum EndpointComments {
    typealias Response = EmptyResponse

    struct ValidationProblem: Decodable, Sendable {
        var fields: [String]
    }

    struct Form: Codable, Sendable {
        var email: String
    }

    struct GetUser: Endpoint {
        typealias Response = EmptyResponse
        let id: String
        let fields: [String]
        var path: EndpointPath {
            EndpointPath(
                template: "/users/{id}{?fields*}",
                ["id": "\(id)", "fields": .list(fields)]
            )
        }
    }

    struct Search: Endpoint {
        typealias Response = EmptyResponse
        let name: String
        let text: String
        let page: Int
        let city: String?
        var path: EndpointPath { "/restaurants/\(name)/menu" }  // name = "Fish & Chips / Bar?"
        // /restaurants/Fish%20%26%20Chips%20%2F%20Bar%3F/menu
        // A city that is nil is left out.
        var query: HTTPQuery { ["q": text, "page": "\(page)", "near": city] }
    }

    static func show(_ fields: [String]) {}

    static func signUp(_ client: NetworkClient, _ form: Form) async {
        struct SignUp: Endpoint {
            var errorBodies: [ErrorBody] {
                [.json(ValidationProblem.self, for: .unprocessableContent)]
            }
            typealias Response = EmptyResponse
            let form: Form
            init(_ form: Form) { self.form = form }
            var method: HTTPRequest.Method { .post }
            var path: EndpointPath { "/users" }
            var body: RequestBody? { .json(form) }
        }

        do throws(NetworkError) {
            _ = try await client.request(SignUp(form))
        } catch {
            if let problem = error.errorBody(as: ValidationProblem.self) { show(problem.fields) }
        }
    }
}

private struct FixtureComments {
    struct MenuDTO: Codable, Sendable {
        var id: String
    }

    enum Bundle {
        static let module = Resources(resourceURL: URL.temporaryDirectory)
    }

    struct Resources: Sendable {
        var resourceURL: URL
    }

    static func load() throws {
        let menu = try Fixture(Bundle.module.resourceURL).load("menu", as: MenuDTO.self)
        _ = menu
    }
}

extension RestaurantDTO {
    static let sample = Fixture.value(
        of: RestaurantDTO.self,
        json: #"{"id": "42", "name": "Luigi"}"#
    )
}

extension RestaurantDTO {
    static let changes: [FieldChange] =
        [.set("name", to: "Ada"), .increment("visits", by: 1), .remove("draft")]
}

extension CommentExamples {
    struct MyTransport {
        init(proxyPort: Int) throws {}
    }
}
