internal import HTTPTypes
internal import KeelHTTP

/// `PUT /users/me/{kind}/{restaurant}`: sets a choice of the signed-in user.
struct PutChoice<Choice: StoredChoice>: Endpoint {
    typealias Response = EmptyResponse

    let choice: Choice

    var method: HTTPRequest.Method { .put }
    var path: EndpointPath { "/users/me/\(Choice.kind)/\(choice.restaurant)" }
    var body: RequestBody? { .json(choice) }
}

/// `DELETE /users/me/{kind}/{restaurant}`: removes a choice of the signed-in user.
struct DeleteChoice<Choice: StoredChoice>: Endpoint {
    typealias Response = EmptyResponse

    let restaurant: String

    var method: HTTPRequest.Method { .delete }
    var path: EndpointPath { "/users/me/\(Choice.kind)/\(restaurant)" }
}
