/// A part of the service's list.
struct RestaurantPageDTO: Decodable, Sendable {
    var restaurants: [RestaurantEntryDTO]
    /// Where the next part begins; nil in the last.
    var next: String?
}

/// An entry of a list, readable or not: one bad entry must not cost the others of its page.
enum RestaurantEntryDTO: Decodable, Sendable {
    case restaurant(RestaurantDTO)
    case unreadable(MappingFailure)

    init(from decoder: any Decoder) {
        do {
            self = .restaurant(try RestaurantDTO(from: decoder))
        } catch {
            self = .unreadable(MappingFailure(id: Self.id(in: decoder), undecodable: error))
        }
    }

    private static func id(in decoder: any Decoder) -> String? {
        struct Identified: Decodable { var id: String }
        return (try? Identified(from: decoder))?.id
    }
}
