internal import KeelHTTP

/// A part of the service's list; one bad entry does not cost the others of its page.
struct RestaurantPageDTO: Decodable, Sendable {
    let restaurants: LossyList<RestaurantDTO>
    /// The id of each entry, readable or not, as far as it has one.
    let ids: [String?]
    /// Where the next part begins; nil in the last.
    let next: String?

    private enum CodingKeys: CodingKey { case restaurants, next }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        restaurants = try fields.decode(LossyList<RestaurantDTO>.self, forKey: .restaurants)
        // Read twice, because a dropped element is reported by its place and not by its id.
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
