internal import KeelHTTP

/// A page of the service's list; a bad entry does not affect the others.
struct RestaurantPageDTO: Decodable, Sendable {
    let restaurants: LossyList<RestaurantDTO>
    /// The id of each entry, readable or not, if it has one.
    let ids: [String?]
    /// The start of the next page; nil on the last page.
    let next: String?

    private enum CodingKeys: CodingKey { case restaurants, next }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        restaurants = try fields.decode(LossyList<RestaurantDTO>.self, forKey: .restaurants)
        // Decoded twice, because a dropped element is reported by its index and not by its id.
        ids = try fields.decode([Identified].self, forKey: .restaurants).map(\.id)
        next = try fields.decodeIfPresent(String.self, forKey: .next)
    }

    private struct Identified: Decodable {
        let id: String?

        private enum CodingKeys: CodingKey { case id }

        init(from decoder: any Decoder) {
            id = try? decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .id)
        }
    }
}
